#include "cosched/rank.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>

namespace cleave::cosched {
namespace {

/// A wake-up that takes longer than that was late: an idle CPU takes 35 us, some take 100.
constexpr nanoseconds late_from = 150'000;

/// One of so many waits is a sleep where ranks leave CPUs to each other.
constexpr unsigned waits_a_sleep = 64;

/// Where ranks outnumber CPUs: if nobody else runs, that takes as long as two switches.
constexpr unsigned most_yields = 8;

/// So long all of them take then, at most.
constexpr nanoseconds idle_yields = 10'000;

/// Who leaves its CPU to nobody has it back in less than that.
constexpr nanoseconds shortest_switch = 1'000;

/// Who takes longer than that computes, and may do so for long. A rank that sleeps is woken.
constexpr nanoseconds longest_yield = 1'000'000;

/// MPI may send an answer some looks after the one that found what it answers.
constexpr unsigned late_look = 64;

/// A different address in every thread.
thread_local char this_thread;

/// Of this thread, of a rank that stands aside: since it last did something for others.
thread_local unsigned empty_looks = 0;

std::int64_t involuntary_switches() noexcept {
  rusage r{};
  return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nivcsw : 0;
}

/// Sleeps for so long, or until the word is another one. A signal ends a block, and no sleep.
bool is_rung_within(nanoseconds time, const std::atomic<std::uint32_t>& word,
                    std::uint32_t ticket) noexcept {
  const nanoseconds end = now() + time;
  for (nanoseconds left = time; left > 0; left = end - now()) {
    machine::block_shared(word, ticket, std::chrono::nanoseconds(left));
    if (word.load(std::memory_order_relaxed) != ticket) return true;
  }
  return false;
}

nanoseconds later(nanoseconds at, nanoseconds by) noexcept {
  constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();
  return by > never - at ? never : at + by;
}

}  // namespace

void rank::start(std::unique_ptr<node> shared, std::unique_ptr<network> others, unsigned me,
                 unsigned tests, spin_time spinning, nanoseconds free_spin, allowance free_time,
                 bool many_threads) {
  node_ = std::move(shared), network_ = std::move(others), me_ = me;
  waiter_.emplace(node_->of(me).bell, node_->sleepers(), me, tests);
  spinning_ = spinning;
  free_spin_ = free_spin, free_time_ = free_time;
  found_at_ = now();
  share_cpus_ = node_->ranks_share_cpus();
  many_threads_ = many_threads;
  called_here();
  state_.store(state::active, std::memory_order_release);  // partner: stand_aside
}

void rank::take_turns(std::unique_ptr<turn_place> at, nanoseconds length, int cpu,
                      std::unique_ptr<turn_watch> watch, unsigned ranks) noexcept {
  place_ = std::move(at);
  watch_ = std::move(watch);
  turns_.emplace(place_->board(), place_->number(), length, cpu, watch_ != nullptr, ranks);
}

void rank::interrupted() noexcept {
  if (now_is() == state::active) turns_->interrupted(counts_.calls);
}

void rank::leave_turns() noexcept {
  if (turns_ && node_->ends_last()) turns_->leave();
}

void rank::stop() noexcept {
  state_.store(state::absent, std::memory_order_relaxed);
  watch_.reset(), turns_.reset(), place_.reset();
}

counts rank::counted() const noexcept {
  counts c = counts_;
  if (turns_) c.stops = turns_->stops(), c.stop_time = turns_->stopped();
  return c;
}

void rank::called_here() noexcept { caller_.store(&this_thread, std::memory_order_relaxed); }
bool rank::is_called_here() const noexcept {
  return caller_.load(std::memory_order_relaxed) == &this_thread;
}

void rank::stand_aside() noexcept {
  state expected = state::active;
  if (!state_.compare_exchange_strong(expected, state::aside)) return;
  if (turns_) turns_->stand_aside();
  // The thread that sleeps goes on, and sleeps no more.
  node_->of(me_).bell.ring(true, [this](const auto& word) { wake(me_, word); });
}

void rank::wake(unsigned i, const std::atomic<std::uint32_t>& word) const noexcept {
  if (network_ != nullptr) network_->wake(i);
  else platform::wake(word);
}

void rank::ring() noexcept {
  owes_ring_ = false;
  ring_others<platform>(node_->sleepers(), me_, [this](unsigned i) {
    slot& other = node_->of(i);
    const int in_world = network_ != nullptr ? network_->in_world(i) : static_cast<int>(i);
    const bool sent = call_.for_all || now_is() == state::aside || in_world == call_.to;
    const bool woke = other.bell.ring(sent, [&](const auto& word) {
      // Before the wake-up: who wakes reads it at once.
      other.rung_at.store(now(), std::memory_order_relaxed);
      wake(i, word);
    });
    if (woke && now_is() == state::active) ++counts_.rings;
  });
}

bool rank::begin_call(bool blocking, const void* frame) noexcept {
  if (now_is() == state::absent) return false;
  if (many_threads_ && !is_called_here() && now_is() == state::active) {
    stand_aside();
    std::fputs("cosched: a second thread calls MPI; the rank's calls wait as without cosched\n",
               stderr);
  }
  if (now_is() == state::aside) return empty_looks = 0, true;
  // The stack grows down: what is below this call has not been called by that one.
  if (calls_ != 0 && frame != nullptr && std::greater_equal<>()(frame, outermost_)) was_left();
  if (++calls_ == 1) called_here(), outermost_ = frame, in_file_ = false;
  call_ = {};  // a nested one makes it unknown, too
  if (blocking && ++blocking_calls_ == 1) ++counts_.calls, slept_ = late_ = false;
  owes_ring_ = owes_last_ring_ = true;
  return true;
}

/// The last call was left by longjmp(), from an error handler.
void rank::was_left() noexcept {
  if (spins_) found_something();
  slept_ = late_ = rung_for_nothing_ = waited_ = false;
  calls_ = blocking_calls_ = 0;
}

void rank::end_call(bool blocking) noexcept {
  if (now_is() == state::absent) return;
  if (now_is() == state::aside || calls_ == 0) return ring();
  if (blocking && --blocking_calls_ == 0) {
    if (spins_) found_something();
    rung_for_nothing_ = false;
  }
  const bool outermost = --calls_ == 0;
  ring();  // also within another one, which may have been left by a jump
  // After all that this call has done for others: nobody of this job waits for it.
  if (!outermost || !turns_) return;
  const bool waited = std::exchange(waited_, false);
  if (waited || turns_->is_others() || turns_->wants_all_calls()) {
    const nanoseconds at = waited ? found_at_ : now();
    // But for stops the rank has worked since then, also where it did not wait.
    found_at_ += turns_->after_wait(at, counts_.calls, counts_.spin_time) - at;
  }
  if (watch_ != nullptr && turns_->wants_interrupts() && !watch_->has_begun())
    watch_->begin(*turns_, place_->board());
}

void rank::begin_spin(nanoseconds at) noexcept {
  spins_ = true;
  longer_ = false;
  begin_ = at, until_ = later(at, spinning_->next());
  const bool one_cpu = node_->waits_on(me_, sched_getcpu()) && network_ == nullptr;
  const bool others_go_on = (one_cpu || share_cpus_) && spinning_->has_two_phases();
  in_vain_ = one_cpu && others_go_on;
  // Linux may put who is woken on an idle CPU, and for long leaves who yields where it is.
  const bool yields = others_go_on && ++yielding_waits_ % waits_a_sleep != 0;
  yields_left_ = !yields ? 0 : share_cpus_ ? most_yields : 1;
  yielded_ = 0;
}

/// `saved`: the time that it would have taken to sleep instead.
void rank::end_spin(nanoseconds at, nanoseconds saved) noexcept {
  counts_.spin_time += at - begin_ - yielded_;
  if (longer_ && at - longer_from_ > saved) free_time_.spend(at - longer_from_ - saved);
}

/// Those that it waits for are on this CPU, and go on at once: cheaper than a sleep and a wake-up.
void rank::yield() noexcept {
  const nanoseconds at = now();
  sched_yield();
  const nanoseconds left = now() - at;
  yielded_ += left;
  if (left > longest_yield) yields_left_ = 0;
  if (left > shortest_switch) ++lost_by_yields_;
  ++counts_.yields, counts_.yield_time += left;
}

/// How often it lost its CPU to somebody else. Linux counts yields to somebody, too.
std::int64_t rank::times_lost() const noexcept { return involuntary_switches() - lost_by_yields_; }

bool rank::is_cpu_wanted(nanoseconds at) noexcept {
  // Where there are turns, they say it: the signs are still those of the last one.
  if (turns_ && turns_->is_mine()) return false;
  if (turns_ && turns_->is_others()) return true;
  if (yielded_ > idle_yields) return true;
  return others_want_.is_wanted(at);
}

bool rank::spun_enough(nanoseconds at) noexcept {
  constexpr nanoseconds gap = 20'000;  // no look takes so long that finds nothing
  if (in_vain_) return true;
  if (!longer_) {
    if (at < until_) return false;
    if (later(begin_, free_spin_) <= at || !free_time_.is_left()) return true;
    switches_ = times_lost();
    others_want_.switches(at, switches_);
    if (is_cpu_wanted(at)) return true;
    longer_ = true, longer_from_ = looked_ = at, until_ = begin_ + free_spin_;
    ++counts_.longer;
    return false;
  }
  if (at - std::exchange(looked_, at) > gap && times_lost() != switches_) until_ = at;
  return at >= until_;
}

void rank::found_something() noexcept {
  if (now_is() == state::aside) return empty_looks = 0, ring();
  owes_ring_ = owes_last_ring_ = true;
  if (!spins_) return;
  spins_ = false;
  // So that its socket does not fill up with what was sent for sleeps that it did not need.
  if (waiter_->found() && network_ != nullptr) network_->drain();
  const nanoseconds at = now();
  found_at_ = at, waited_ = true;
  end_spin(at, spinning_->block_cost());
  if (!slept_) spinning_->saw(at - begin_);
  ++(slept_ ? counts_.slept : counts_.spun);
  if (slept_ && late_) ++counts_.late;

  slept_ = late_ = rung_for_nothing_ = false;
}

void rank::found_nothing() noexcept {
  if (now_is() == state::aside) {  // those that are not sleep until they are rung
    const unsigned looks = ++empty_looks;
    if (looks == 1 || looks == late_look) ring();
    return;
  }
  if (now_is() != state::active || blocking_calls_ == 0) return;
  if (owes_ring_) ring();
  const nanoseconds at = now();
  if (!spins_) {
    ++counts_.waits;
    free_time_.earn(at - found_at_);
    begin_spin(at);
  }
  if (in_file_) return static_cast<void>(sched_yield());
  if (yields_left_ != 0) {
    // What was found is answered by now. Once: who is rung for nothing takes a CPU.
    if (yields_left_-- == most_yields - 1 && owes_last_ring_) ring();
    return yield();
  }
  const auto phase = waiter_->now();
  const bool enough = phase != waiter<platform>::phase::spinning || spun_enough(at);
  // What another node sends from now on must end the sleep.
  if (!enough || (network_ != nullptr && !network_->can_sleep())) return machine::pause();
  // What was found can be answered some looks later, which counts as nothing.
  nanoseconds slept = at;
  const auto before_sleep = [&] {
    if (!std::exchange(owes_last_ring_, false)) return;
    ring();
    slept = now();
  };
  const auto block = [this](const auto& word, std::uint32_t ticket) {
    if (network_ != nullptr) return network_->sleep(word, ticket);
    for (bool early = true; early && turns_ && turns_->is_mine(); early = !turns_->give_up())
      if (is_rung_within(turns::patience, word, ticket)) return false;
    constexpr std::chrono::nanoseconds longest = platform::longest_sleep;
    is_rung_within(longest.count(), word, ticket);
    return false;
  };
  using woken = waiter<platform>::woken;
  const woken by = waiter_->tested(enough, call_.what, before_sleep, block);
  if (by == woken::no) return;

  const nanoseconds woke = now();
  const bool rung = by == woken::rung;
  ++counts_.sleeps;
  end_spin(at, 0);
  counts_.sleep_time += woke - at;
  if (rung_for_nothing_) ++counts_.for_nothing;
  if (late_) ++counts_.timeouts;
  if (rung) {
    const nanoseconds rung_at = node_->of(me_).rung_at.load(std::memory_order_relaxed);
    // Who rang may not have written it yet.
    spinning_->saw(std::max(rung_at, begin_) - begin_);
    if (woke - rung_at > late_from) others_want_.late(woke);
  } else if (by == woken::event) {
    // Nobody tells when that was: a wake-up ago, as far as the sleep is that long.
    spinning_->saw(std::max(slept, woke - spinning_->block_cost()) - begin_);
    ++counts_.events;
  }
  slept_ = true, late_ = by == woken::late, rung_for_nothing_ = rung;
  begin_spin(woke);
}

}  // namespace cleave::cosched
