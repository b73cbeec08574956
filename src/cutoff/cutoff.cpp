#include "cutoff/cutoff.hpp"

#include "machine/thread.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace cleave::detail {
namespace {

/// How long an undivided construct may keep those waiting that insist: by both measures, because
/// an asker may insist while this thread is preempted.
constexpr unsigned most_polls = 64;
constexpr unsigned most_time = 20;  // microseconds
/// Microseconds: who gives parts twice within the first time, the second time to a worker that took
/// less than the second for what it had before, divides all constructs for as long as the first.
/// What runs undivided cannot be given: of a narrow tree that two workers share, only crumbs are
/// seen.
constexpr unsigned asked_often = 200, crumb = 50;
/// How many constructs are divided at most until it is seen that this time is over.
constexpr std::uint32_t look_again = 32;

}  // namespace

cutoff::of_task cutoff::begin_task(std::size_t depth) noexcept {
  return std::exchange(task_, of_task{.depth = depth, .unlisted = here.unlisted});
}

void cutoff::end_task(const of_task& outer) noexcept {
  assert(!steps_are_unlisted());  // each was undone, also on unwinding
  task_ = outer;
}

std::uintptr_t cutoff::address() noexcept {
  if (!steps_are_unlisted()) task_.inside = false, task_.polls = 0;
  if (task_.inside || task_.base == 0) {
    here.until_timed = 1;  // the change of that is to be seen as soon as can be
    return 0;
  }
  if (divides_all()) {
    here.until_timed = std::min(here.until_timed, look_again);
    return 0;
  }
  const std::size_t deep = enabled_ ? learner_.depth() : cutoff_learner::none;
  return deep < task_.base ? task_.base - deep : 0;
}

void cutoff::gave(std::uint64_t now, std::uint64_t took) noexcept {
  const std::uint64_t often = asked_often * ticks_per_microsecond();
  const bool again = now - std::exchange(gave_at_, now) < often;
  if (again && took != 0 && took < crumb * ticks_per_microsecond() && learner_.learnt())
    divided_until_ = now + often;
}

bool cutoff::divides_all() noexcept {
  if (divided_until_ != 0 && ticks() >= divided_until_) divided_until_ = 0;
  return divided_until_ != 0;
}

bool cutoff::answers_later(bool insisted) noexcept {
  if (task_.inside || !steps_are_unlisted()) return false;
  if (!insisted) return true;
  const std::uint64_t now = ticks();
  if (task_.polls++ == 0) task_.insisted = now;
  return task_.polls < most_polls || now - task_.insisted < most_time * ticks_per_microsecond();
}

bool cutoff::begin_timing(std::uintptr_t at, bool every) noexcept {
  timing_since_ = ticks();
  const bool first = task_.base == 0;
  // The task counts as deep as the construct that it is a part of, however much stack is between
  // worker and task.
  if (first) task_.base = at + task_.depth;
  const bool over = task_.inside && !steps_are_unlisted();
  every = every || (task_.inside && !over);
  here.until_timed = until_timed_ = every ? 1 : learner_.until_next(timing_since_);
  // Where timings are rare this is worth the system call. A task's first construct is always timed.
  if (!every && !first && learner_.learnt()) preempted_since(0);
  return first || over;
}

bool cutoff::begin_untimed(std::uintptr_t at) noexcept {
  if (task_.base != 0) return false;
  task_.base = at + task_.depth;
  here.until_timed = 1;
  return true;
}

void cutoff::end_timing(std::uint64_t since, std::uintptr_t at) noexcept {
  const std::uint64_t now = ticks();
  const bool undivided = since == timing_since_ && here.until_timed == until_timed_;
  // What was shared with others, interrupted, or divided though it is short, tells nothing; inside,
  // all are timed, no sample.
  if (!task_.inside && divided_until_ == 0 && shared_at_ < since &&
      !(cutoff_learner::is_long(now - since) && preempted_since(since)))
    learner_.add(depth_of(at), since, now, undivided);
}

std::uint64_t cutoff::time_of(std::uint64_t then, std::uint64_t now) noexcept {
  const std::uint64_t passed = now - then;
  return cutoff_learner::is_long(passed) && preempted_since(then) ? 0 : passed;
}

/// Whether the thread was preempted since then, or since this was last asked, if that was before.
bool cutoff::preempted_since(std::uint64_t then) noexcept {
  const long before = std::exchange(preemptions_, machine::preemptions());
  if (preemptions_ != before) preempted_at_ = ticks();
  return preempted_at_ > then;
}

}  // namespace cleave::detail
