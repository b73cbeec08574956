#pragma once

#include "cosched/spin_time.hpp"

#include <cstdint>
#include <optional>

namespace cleave::cosched {

/// Does somebody else want the CPUs that this rank runs on? While nobody does, spinning takes
/// nothing from anybody, and a rank spins longer than a wake-up is worth.
///
/// Two signs, each of them counted: the rank lost its CPU to another thread (an involuntary context
/// switch), and it was woken but ran late. A CPU that nobody else wants has a few of these in a
/// second, from the kernel's own threads; one that is shared has hundreds.
///
/// The count halves every 35 ms. Above `from` the CPU is wanted, for 50 ms at least. If it is
/// wanted again soon after that, the time doubles, up to 1.6 s: a rank that never runs long enough
/// to lose its CPU learns of the others only by spinning in their way, so it should try seldom.
class demand {
public:
  /// Tells that the rank has had `so_far` involuntary context switches in all.
  void switches(nanoseconds at, std::int64_t so_far) noexcept;
  /// Tells that the rank ran late after a wake-up.
  void late(nanoseconds at) noexcept { signs(at, 1); }

  bool is_wanted(nanoseconds at) noexcept;

  static constexpr double from = 2, until = 0.5;
  static constexpr nanoseconds half_life = 35'000'000;
  static constexpr nanoseconds shortest = 50'000'000, longest = 1'600'000'000;

private:
  void decay(nanoseconds at) noexcept;
  void signs(nanoseconds at, double n) noexcept;

  double count_ = 0;
  nanoseconds counted_at_ = 0;
  std::optional<std::int64_t> switches_;  // the number that was told last
  nanoseconds told_at_ = 0;
  bool wanted_ = false;
  nanoseconds hold_ = shortest, hold_until_ = 0, free_since_ = 0;
};

}  // namespace cleave::cosched
