#include "cosched/rank.hpp"

#include <cstdio>
#include <limits>
#include <utility>

namespace cleave::cosched {
namespace {

/// A different address in every thread.
thread_local char this_thread;

nanoseconds later(nanoseconds at, nanoseconds by) noexcept {
  constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();
  return by > never - at ? never : at + by;
}

}  // namespace

void rank::start(std::unique_ptr<node> shared, unsigned me, unsigned tests, spin_time spinning,
                 bool many_threads) {
  node_ = std::move(shared), me_ = me;
  waiter_.emplace(node_->of(me).bell, node_->sleepers(), me, tests);
  spinning_ = spinning;
  thread_ = many_threads ? &this_thread : nullptr;
  state_.store(state::active, std::memory_order_relaxed);
}

void rank::stand_aside() noexcept {
  state expected = state::active;
  if (!state_.compare_exchange_strong(expected, state::aside)) return;
  node_->of(me_).bell.ring([] {});  // the thread that sleeps goes on, and sleeps no more
}

void rank::ring() noexcept {
  owes_ring_ = false;
  ring_others<platform>(node_->sleepers(), me_, [this](unsigned i) {
    slot& other = node_->of(i);
    // The time before the wake-up: who wakes reads it at once.
    const bool woke =
        other.bell.ring([&] { other.rung_at.store(now(), std::memory_order_relaxed); });
    if (woke && now_is() == state::active) ++counts_.rings;
  });
}

bool rank::begin_call(bool blocking) noexcept {
  if (now_is() == state::absent) return false;
  if (thread_ != nullptr && thread_ != &this_thread && now_is() == state::active) {
    stand_aside();
    std::fputs("cosched: a second thread calls MPI; the rank's calls wait as without cosched\n",
               stderr);
  }
  if (now_is() == state::aside) return true;
  ++calls_;
  if (blocking && ++blocking_calls_ == 1) ++counts_.calls, slept_ = late_ = false;
  owes_ring_ = owes_last_ring_ = true;
  return true;
}

void rank::end_call(bool blocking) noexcept {
  if (now_is() == state::absent) return;
  if (now_is() == state::aside) return ring();
  if (blocking && --blocking_calls_ == 0) {
    if (spins_) found_something();
    rung_for_nothing_ = false;
  }
  if (--calls_ == 0) ring();
}

void rank::begin_spin(nanoseconds at) noexcept {
  spins_ = true;
  begin_ = at, until_ = later(at, spinning_->next());
}

void rank::found_something() noexcept {
  if (now_is() == state::aside) return ring();
  owes_ring_ = owes_last_ring_ = true;
  if (!spins_) return;
  spins_ = false;
  waiter_->found();
  const nanoseconds wait = now() - begin_;
  counts_.spin_time += wait;
  if (!slept_) spinning_->saw(wait);
  ++(slept_ ? counts_.slept : counts_.spun);
  if (slept_ && late_) ++counts_.late;

  slept_ = late_ = rung_for_nothing_ = false;
}

void rank::found_nothing() noexcept {
  if (now_is() != state::active || blocking_calls_ == 0) return;
  if (owes_ring_) ring();
  const nanoseconds at = now();
  if (!spins_) {
    ++counts_.waits;
    begin_spin(at);
  }
  const auto phase = waiter_->now();
  const bool enough = at >= until_;
  if (phase == waiter<platform>::phase::spinning && !enough) return machine::pause();
  // What was found can be answered some looks later, which counts as nothing.
  const auto woken = waiter_->tested(enough, [this] {
    if (std::exchange(owes_last_ring_, false)) ring();
  });
  if (woken == waiter<platform>::woken::no) return;

  const nanoseconds woke = now();
  const bool rung = woken == waiter<platform>::woken::rung;
  ++counts_.sleeps;
  counts_.spin_time += at - begin_, counts_.sleep_time += woke - at;
  if (rung_for_nothing_) ++counts_.for_nothing;
  if (late_) ++counts_.timeouts;
  if (rung) spinning_->saw(node_->of(me_).rung_at.load(std::memory_order_relaxed) - begin_);
  slept_ = true, late_ = !rung, rung_for_nothing_ = rung;
  begin_spin(woke);
}

}  // namespace cleave::cosched
