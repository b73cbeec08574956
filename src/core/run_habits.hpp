#pragma once

#include <cstdint>

namespace cleave::detail {

/// What is known of the runs of a program that calls run() again and again: how much work they are,
/// and how long it is from one to the next. All times are ticks.
class run_habits {
public:
  run_habits() noexcept;

  /// Whether the next run is to be timed. Of those that take no longer than dividing them would,
  /// most are not: the clock is a part of what they take.
  bool times_next() const noexcept;
  /// A run begins; `now` is 0 if it is not timed. Returns for how long requests are not answered:
  /// where all runs of late have been short, this one is cheaper undivided. `asleep`: whoever asks
  /// has to be woken.
  std::uint64_t begin(std::uint64_t now, bool asleep) noexcept;
  /// The run has ended, and was timed. Returns for how long it is worth it that idle workers stay
  /// awake.
  std::uint64_t end(std::uint64_t now, bool divided) noexcept;

  /// Whether all runs of late have been short, and one came soon after the other.
  bool are_short() const noexcept;

private:
  /// Whether a run wakes a worker for the sake of those after it, which come soon: once awake, the
  /// worker stays so. If it does not, it is woken after twice as many runs.
  bool wakes_sleeper() noexcept;

  std::uint64_t work_;  // what the longest run of late takes on one worker, about
  std::uint64_t gap_;   // from the end of a run to the next, about
  std::uint64_t began_ = 0;
  std::uint64_t ended_ = 0;        // the run before; 0: it is not known when
  std::uint32_t runs_ = 0;         // how many there were
  std::uint32_t passed_over_ = 0;  // runs that found a worker asleep, less those that did not
  bool patient_ = false;           // in this one requests wait
};

}  // namespace cleave::detail
