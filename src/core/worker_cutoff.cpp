#include "core/pool.hpp"
#include "core/worker.hpp"
#include "machine/thread.hpp"

#include <cleave/detail/cutoff.hpp>
#include <cleave/detail/pace.hpp>

#include <algorithm>
#include <utility>

/// What a worker does about its cutoff: sets it, finds out what is undivided, and times constructs to learn it.
namespace cleave::detail {
namespace {

/// How long an undivided construct may keep those waiting that insist.
constexpr unsigned patient_polls = 64;
constexpr unsigned patient_time = 20;  // microseconds

}  // namespace

/// Whether to wait for the end of the undivided construct that this worker is in. An asker may insist because this
/// thread was preempted: so not before it has polled for a while.
bool worker::over_soon() noexcept {
  if (!box_.insisted()) return true;
  const std::uint64_t now = ticks();
  if (stretch_.polls++ == 0) stretch_.insisted = now;
  return stretch_.polls < patient_polls ||
         now - stretch_.insisted < patient_time * ticks_per_microsecond();
}

void worker::enter_slow_path(std::uintptr_t at) {
  stretch_.polls = 0;
  if (at >= stretch_.undivided_below) {
    all_is_on_the_list();
  } else if (stretch_.cutoff_was_set) {
    if (!here.stepped) return;  // all steps are on the list: any frame can be divided
    frames_.block(here.innermost);
  }
  stretch_.cutoff_was_set = false;
}

void worker::all_is_on_the_list() noexcept {
  stretch_.undivided_below = 0;
  here.stepped = false;
  frames_.blocked = stretch_.blocked;
}

void worker::leave_slow_path() noexcept {
  const bool needed = below_blocked_frames();
  const std::size_t deep = of.cutoff && !needed ? cutoff_.depth() : cutoff_learner::none;
  const std::uintptr_t address = deep < stretch_.base ? stretch_.base - deep : 0;
  if (box_.set_cutoff(address)) {
    stretch_.undivided_below = std::max(stretch_.undivided_below, address);
    stretch_.cutoff_was_set = true;
  }
  // To see as soon as can be when they are blocked no longer; or where on the stack the task's constructs begin.
  if (needed || stretch_.base == 0) here.until_timed = 1;
}

worker::stretch worker::begin_stretch(std::size_t depth) noexcept {
  const std::uintptr_t at = stack_pointer();
  enter_slow_path(at);
  const stretch outer = stretch_;
  stretch_ = {.depth = depth, .blocked = frames_.blocked};
  leave_slow_path();
  return outer;
}

void worker::end_stretch(const stretch& outer) noexcept {
  frames_.blocked = stretch_.blocked;
  stretch_ = outer;
  leave_slow_path();
}

std::uint64_t worker::begin_timing(std::uintptr_t at) noexcept {
  trace::between_strands pause(strands_);
  if (strands_ != nullptr) strands_->begin_construct(at);
  timing_since_ = ticks();
  if (stretch_.base == 0) {
    // As deep as the construct that it is a part of, however much stack there is between a worker and its task.
    stretch_.base = at + stretch_.depth;
    leave_slow_path();
  } else if (below_blocked_frames() && at >= stretch_.undivided_below) {
    all_is_on_the_list();
    leave_slow_path();
  }
  const bool all = below_blocked_frames() || strands_ != nullptr;
  here.until_timed = until_timed_ = all ? 1 : cutoff_.until_next(timing_since_);
  // Where timings are rare it is worth the system call.
  if (!all && cutoff_.learnt()) preempted_since(0);
  return timing_since_;
}

void worker::end_timing(std::uint64_t since, std::uintptr_t at) noexcept {
  trace::between_strands pause(strands_);
  if (strands_ != nullptr) strands_->end_construct(at);
  const std::uint64_t now = ticks();
  const bool undivided = since == timing_since_ && here.until_timed == until_timed_;
  // What was shared with others, or interrupted, tells nothing; and now all are timed, not a sample.
  if (!below_blocked_frames() && shared_at_ < since &&
      !(cutoff_learner::is_long(now - since) && preempted_since(since)))
    cutoff_.add(depth_of(at), since, now, undivided);
  // Above them all, or not beyond a cutoff that is set: no undivided construct is under way.
  if (at >= stretch_.undivided_below || !box_.insisted()) {
    all_is_on_the_list();
    leave_slow_path();
  }
}

/// Whether the thread was preempted since then, or since this was last asked, if that was before.
bool worker::preempted_since(std::uint64_t then) noexcept {
  const long before = std::exchange(preemptions_, machine::preemptions());
  if (preemptions_ != before) preempted_at_ = ticks();
  return preempted_at_ > then;
}

}  // namespace cleave::detail
