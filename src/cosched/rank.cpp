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

/// A wake-up that takes longer than this is late: on an idle CPU it takes 35 us, on some 100.
constexpr nanoseconds late_from = 150'000;

/// Where ranks leave CPUs to each other by sched_yield(), one of so many waits is a sleep all the
/// same.
constexpr unsigned waits_a_sleep = 64;

/// The most calls of sched_yield() in one wait, where ranks outnumber CPUs. If nobody else runs,
/// all of them take as long as two switches.
constexpr unsigned most_yields = 8;

/// Calls of sched_yield() in one wait that took longer than this in all have let somebody else run.
constexpr nanoseconds idle_yields = 10'000;

/// A sched_yield() shorter than this has found nobody else to run.
constexpr nanoseconds shortest_switch = 1'000;

/// If a sched_yield() takes longer than this, the thread that got the CPU computes, and may do so
/// for long. A rank that sleeps instead is woken.
constexpr nanoseconds longest_yield = 1'000'000;

/// MPI may send an answer some looks after the one that found what it answers.
constexpr unsigned late_look = 64;

/// A different address in every thread.
thread_local char this_thread;

/// How often this thread has looked and found nothing since it last did something for others.
/// Counted only in a rank that stands aside.
thread_local unsigned empty_looks = 0;

std::int64_t involuntary_switches() noexcept {
  rusage r{};
  return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nivcsw : 0;
}

/// Sleeps for that time, or until the word is another one. A signal ends a block, but no sleep.
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
                 const waits& how) {
  job_.shared = std::move(shared), job_.others = std::move(others), job_.me = me;
  waiter_.emplace(job_.shared->of(me).bell, job_.shared->sleepers(), me, how.tests);
  spinning_ = how.spinning;
  free_spin_ = {how.free_spin, how.free_time};
  wait_.found_at = now();
  job_.share_cpus = job_.shared->ranks_share_cpus();
  job_.many_threads = how.many_threads;
  called_here();
  state_.store(state::active, std::memory_order_release);  // partner: stand_aside
}

void rank::take_turns(std::unique_ptr<turn_place> at, nanoseconds length, int cpu,
                      std::unique_ptr<turn_watch> watch, unsigned ranks) noexcept {
  turns_.place = std::move(at);
  turns_.watch = std::move(watch);
  turns_.of.emplace(turns_.place->board(), turns_.place->number(), length, cpu,
                    turns_.watch != nullptr, ranks);
}

void rank::interrupted() noexcept {
  if (now_is() == state::active) turns_.of->interrupted(counts_.calls);
}

void rank::leave_turns() noexcept {
  if (turns_.of && job_.shared->ends_last()) turns_.of->leave();
}

void rank::stop() noexcept {
  state_.store(state::absent, std::memory_order_relaxed);
  turns_.watch.reset(), turns_.of.reset(), turns_.place.reset();
}

counts rank::counted() const noexcept {
  counts c = counts_;
  if (turns_.of) c.stops = turns_.of->stops(), c.stop_time = turns_.of->stopped();
  return c;
}

void rank::called_here() noexcept { caller_.store(&this_thread, std::memory_order_relaxed); }
bool rank::is_called_here() const noexcept {
  return caller_.load(std::memory_order_relaxed) == &this_thread;
}

void rank::stand_aside() noexcept {
  state expected = state::active;
  if (!state_.compare_exchange_strong(expected, state::aside)) return;
  if (turns_.of) turns_.of->stand_aside();
  // The thread that sleeps goes on, and sleeps no more.
  job_.shared->of(job_.me).bell.ring(true, [this](const auto& word) { wake(job_.me, word); });
}

void rank::wake(unsigned i, const std::atomic<std::uint32_t>& word) const noexcept {
  if (job_.others != nullptr) job_.others->wake(i);
  else platform::wake(word);
}

void rank::ring() noexcept {
  owes_.ring = false;
  ring_others<platform>(job_.shared->sleepers(), job_.me, [this](unsigned i) {
    slot& other = job_.shared->of(i);
    const int in_world = job_.others != nullptr ? job_.others->in_world(i) : static_cast<int>(i);
    const bool sent = call_.what.for_all || now_is() == state::aside || in_world == call_.what.to;
    const bool woke = other.bell.ring(sent, [&](const auto& word) {
      // The time is stored before the wake-up: the rank that wakes reads it at once.
      other.rung_at.store(now(), std::memory_order_relaxed);
      wake(i, word);
    });
    if (woke && now_is() == state::active) ++counts_.rings;
  });
}

bool rank::begin_call(bool blocking, const void* frame) noexcept {
  if (now_is() == state::absent) return false;
  if (job_.many_threads && !is_called_here() && now_is() == state::active) {
    stand_aside();
    std::fputs("cosched: a second thread calls MPI; the rank's calls wait as without cosched\n",
               stderr);
  }
  if (now_is() == state::aside) return empty_looks = 0, true;
  // The stack grows down: what is below this call has not been called by that one.
  if (call_.depth != 0 && frame != nullptr && std::greater_equal<>()(frame, call_.outermost))
    was_left();
  if (++call_.depth == 1) called_here(), call_.outermost = frame, call_.in_file = false;
  call_.what = {};  // a nested call makes it unknown, too
  if (blocking && ++call_.blocking == 1) ++counts_.calls, wait_.slept = wait_.late = false;
  owes_.ring = owes_.last_ring = true;
  return true;
}

/// The last call was left by longjmp(), from an error handler.
void rank::was_left() noexcept {
  if (spin_.on) found_something();
  wait_.slept = wait_.late = wait_.rung_for_nothing = wait_.found = false;
  call_.depth = call_.blocking = 0;
}

void rank::end_call(bool blocking) noexcept {
  if (now_is() == state::absent) return;
  if (now_is() == state::aside || call_.depth == 0) return ring();
  if (blocking && --call_.blocking == 0) {
    if (spin_.on) found_something();
    wait_.rung_for_nothing = false;
  }
  const bool outermost = --call_.depth == 0;
  ring();  // a nested call rings too: the outer one may have been left by a jump
  // Turns come after all that this call has done for others: nobody of this job waits for it then.
  if (!outermost || !turns_.of) return;
  const bool waited = std::exchange(wait_.found, false);
  if (waited || turns_.of->is_others() || turns_.of->wants_all_calls()) {
    const nanoseconds at = waited ? wait_.found_at : now();
    // Except for stops, the rank has worked since then, also where it did not wait.
    wait_.found_at += turns_.of->after_wait(at, counts_.calls, counts_.spin_time) - at;
  }
  if (turns_.watch != nullptr && turns_.of->wants_interrupts() && !turns_.watch->has_begun())
    turns_.watch->begin(*turns_.of, turns_.place->board());
}

void rank::begin_spin(nanoseconds at) noexcept {
  spin_.on = true;
  spin_.longer = false;
  spin_.begin = at, spin_.until = later(at, spinning_->next());
  const bool one_cpu = job_.shared->waits_on(job_.me, sched_getcpu()) && job_.others == nullptr;
  const bool others_go_on = (one_cpu || job_.share_cpus) && spinning_->has_two_phases();
  spin_.in_vain = one_cpu && others_go_on;
  // Linux may put a thread that is woken on an idle CPU, and for long leaves one that yields where
  // it is.
  const bool yields = others_go_on && ++yields_.waits % waits_a_sleep != 0;
  spin_.yields_left = !yields ? 0 : job_.share_cpus ? most_yields : 1;
  spin_.yielded = 0;
}

/// `saved`: the time that it would have taken to sleep instead.
void rank::end_spin(nanoseconds at, nanoseconds saved) noexcept {
  counts_.spin_time += at - spin_.begin - spin_.yielded;
  if (spin_.longer && at - spin_.longer_from > saved)
    free_spin_.left.spend(at - spin_.longer_from - saved);
}

/// The ranks that this one waits for are on its CPU, and go on at once: that is cheaper than a
/// sleep and a wake-up.
void rank::yield() noexcept {
  const nanoseconds at = now();
  sched_yield();
  const nanoseconds left = now() - at;
  spin_.yielded += left;
  if (left > longest_yield) spin_.yields_left = 0;
  if (left > shortest_switch) ++yields_.lost;
  ++counts_.yields, counts_.yield_time += left;
}

/// How often this thread has lost its CPU to somebody else, yields left out: Linux counts those to
/// somebody, too.
std::int64_t rank::times_lost() const noexcept { return involuntary_switches() - yields_.lost; }

bool rank::is_cpu_wanted(nanoseconds at) noexcept {
  // Where there are turns, they say whether the CPU is wanted: the signs are still those of the
  // last turn.
  if (turns_.of && turns_.of->is_mine()) return false;
  if (turns_.of && turns_.of->is_others()) return true;
  if (spin_.yielded > idle_yields) return true;
  return others_want_.is_wanted(at);
}

bool rank::spun_enough(nanoseconds at) noexcept {
  constexpr nanoseconds gap = 20'000;  // a look that finds nothing takes less time
  if (spin_.in_vain) return true;
  if (!spin_.longer) {
    if (at < spin_.until) return false;
    if (later(spin_.begin, free_spin_.longest) <= at || !free_spin_.left.is_left()) return true;
    spin_.switches = times_lost();
    others_want_.switches(at, spin_.switches);
    if (is_cpu_wanted(at)) return true;
    spin_.longer = true, spin_.longer_from = spin_.looked = at,
    spin_.until = spin_.begin + free_spin_.longest;
    ++counts_.longer;
    return false;
  }
  if (at - std::exchange(spin_.looked, at) > gap && times_lost() != spin_.switches)
    spin_.until = at;
  return at >= spin_.until;
}

void rank::found_something() noexcept {
  if (now_is() == state::aside) return empty_looks = 0, ring();
  owes_.ring = owes_.last_ring = true;
  if (!spin_.on) return;
  spin_.on = false;
  // The rank's socket must not fill up with what was sent for sleeps that the rank did not need.
  if (waiter_->found() && job_.others != nullptr) job_.others->drain();
  const nanoseconds at = now();
  wait_.found_at = at, wait_.found = true;
  end_spin(at, spinning_->block_cost());
  if (!wait_.slept) spinning_->saw(at - spin_.begin);
  ++(wait_.slept ? counts_.slept : counts_.spun);
  if (wait_.slept && wait_.late) ++counts_.late;

  wait_.slept = wait_.late = wait_.rung_for_nothing = false;
}

void rank::found_nothing() noexcept {
  if (now_is() == state::aside) {  // ranks that do not stand aside sleep until they are rung
    const unsigned looks = ++empty_looks;
    if (looks == 1 || looks == late_look) ring();
    return;
  }
  if (now_is() != state::active || call_.blocking == 0) return;
  if (owes_.ring) ring();
  const nanoseconds at = now();
  if (!spin_.on) {
    ++counts_.waits;
    free_spin_.left.earn(at - wait_.found_at);
    begin_spin(at);
  }
  if (call_.in_file) return static_cast<void>(sched_yield());
  if (spin_.yields_left != 0) {
    // What was found is answered by now. This rank rings only once: one that is rung for nothing
    // takes a CPU.
    if (spin_.yields_left-- == most_yields - 1 && owes_.last_ring) ring();
    return yield();
  }
  const auto phase = waiter_->now();
  const bool enough = phase != waiter<platform>::phase::spinning || spun_enough(at);
  // What another node sends from now on must end the sleep.
  if (!enough || (job_.others != nullptr && !job_.others->can_sleep())) return machine::pause();
  // What was found can be answered some looks later, which counts as nothing.
  nanoseconds slept = at;
  const auto before_sleep = [&] {
    if (!std::exchange(owes_.last_ring, false)) return;
    ring();
    slept = now();
  };
  const auto block = [this](const auto& word, std::uint32_t ticket) {
    if (job_.others != nullptr) return job_.others->sleep(word, ticket);
    for (bool early = true; early && turns_.of && turns_.of->is_mine();
         early = !turns_.of->give_up())
      if (is_rung_within(turns::patience, word, ticket)) return false;
    constexpr std::chrono::nanoseconds longest = platform::longest_sleep;
    is_rung_within(longest.count(), word, ticket);
    return false;
  };
  using woken = waiter<platform>::woken;
  const woken by = waiter_->tested(enough, call_.what.what, before_sleep, block);
  if (by == woken::no) return;

  const nanoseconds woke = now();
  const bool rung = by == woken::rung;
  ++counts_.sleeps;
  end_spin(at, 0);
  counts_.sleep_time += woke - at;
  if (wait_.rung_for_nothing) ++counts_.for_nothing;
  if (wait_.late) ++counts_.timeouts;
  if (rung) {
    const nanoseconds rung_at = job_.shared->of(job_.me).rung_at.load(std::memory_order_relaxed);
    // The rank that rang may not have written the time yet.
    spinning_->saw(std::max(rung_at, spin_.begin) - spin_.begin);
    if (woke - rung_at > late_from) others_want_.late(woke);
  } else if (by == woken::event) {
    // Nobody tells when the event was: a wake-up ago, as far as the sleep is that long.
    spinning_->saw(std::max(slept, woke - spinning_->block_cost()) - spin_.begin);
    ++counts_.events;
  }
  wait_.slept = true, wait_.late = by == woken::late, wait_.rung_for_nothing = rung;
  begin_spin(woke);
}

}  // namespace cleave::cosched
