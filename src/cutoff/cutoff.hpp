#pragma once

#include "cutoff/learner.hpp"

#include <cleave/detail/clock.hpp>
#include <cleave/detail/frame.hpp>

#include <cstddef>
#include <cstdint>

namespace cleave::detail {

/// Where on its stack one worker's constructs run undivided, and what it knows to decide that.
/// Belongs to that worker alone.
///
/// Invariant: while steps are done that are on no list, and somebody could wait no longer for their
/// end (`inside`), nothing more begins undivided: the address is 0. Which frames may be given is
/// not decided here (see work_frame): whatever the address is, no answer is wrong.
class cutoff {
public:
  explicit cutoff(bool enabled) noexcept : enabled_(enabled) {}

  /// What is known of one task. One that runs on top of it, in a join, has its own.
  struct of_task {
    std::uintptr_t base = 0;     // the address that counts as depth 0; 0: no construct yet
    std::size_t depth = 0;       // the depth of the first construct
    std::uint32_t unlisted = 0;  // here.unlisted when the task began
    bool inside = false;         // what begins inside an undivided construct can be divided
    std::uint32_t polls = 0;     // polls since somebody insists, in that construct
    std::uint64_t insisted = 0;  // when the first of these polls was
  };
  /// Begins a task whose first construct counts as `depth` deep. Returns what end_task() takes.
  of_task begin_task(std::size_t depth) noexcept;
  void end_task(const of_task& outer) noexcept;

  /// Below which address constructs run undivided from now on; 0: none does.
  std::uintptr_t address() noexcept;
  /// Bytes of stack from the root's construct to this address.
  std::size_t depth_of(std::uintptr_t at) const noexcept {
    return at < task_.base ? task_.base - at : 0;
  }

  /// Whether to answer only after the undivided construct under way, which has steps: then
  /// something larger can be given. Not for long, if they insist.
  bool answers_later(bool insisted) noexcept;
  /// Whether the task has made steps that are on no list and not undone yet.
  bool steps_are_unlisted() const noexcept { return here.unlisted != task_.unlisted; }
  /// Frames are looked for now, whatever is under way.
  void begin_division() noexcept { task_.inside = steps_are_unlisted(), task_.polls = 0; }
  /// Something was given away, or is joined: constructs under way tell nothing about lengths.
  void shared(std::uint64_t now) noexcept { shared_at_ = now; }
  /// Parts were given at a poll that began then, to workers of whom one took so long (0: not known)
  /// for what it ran last. If that is often, and not for long, all is divided for a while.
  void gave(std::uint64_t now, std::uint64_t took) noexcept;

  /// Begins to time a construct at this address; `every` one of them is to be timed. Returns
  /// whether the address has changed.
  bool begin_timing(std::uintptr_t at, bool every) noexcept;
  /// Whether a construct at this address is the task's first one. Then it counts as begun, and the
  /// next one is timed; the address has changed.
  bool begin_untimed(std::uintptr_t at) noexcept;
  std::uint64_t timing_since() const noexcept { return timing_since_; }
  void end_timing(std::uint64_t since, std::uintptr_t at) noexcept;
  /// Ticks since then, if that can be relied on; 0: the thread was preempted.
  std::uint64_t time_since(std::uint64_t then) noexcept { return time_of(then, ticks()); }
  /// The same, for what has ended at `now`, the current tick.
  std::uint64_t time_of(std::uint64_t then, std::uint64_t now) noexcept;
  /// A piece given from this depth took so long; 0: not known.
  void add_piece(std::size_t depth, std::uint64_t ticks) noexcept {
    learner_.add_piece(depth, ticks);
  }

private:
  bool divides_all() noexcept;
  bool preempted_since(std::uint64_t then) noexcept;

  const bool enabled_;
  cutoff_learner learner_;
  of_task task_;
  std::uint64_t shared_at_ = 0;      // when something was last given away or joined
  std::uint64_t gave_at_ = 0;        // when parts were last given at a poll
  std::uint64_t divided_until_ = 0;  // until when all is divided; 0: no longer
  std::uint64_t timing_since_ = 0;   // when the last timing began
  std::uint32_t until_timed_ = 0;    // here.until_timed when the last timing began
  long preemptions_ = 0;             // how often this thread had been preempted, when last asked
  std::uint64_t preempted_at_ = 0;   // when it was last asked and a preemption was found
};

}  // namespace cleave::detail
