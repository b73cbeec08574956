#pragma once

#include <algorithm>
#include <cstdint>

namespace cleave::detail {

/// Says when steps take longer than they did, as the load may have moved. One thread.
class step_pace {
public:
  /// Looks at so many steps at once.
  explicit step_pace(std::uint64_t steps) noexcept : at_once_(std::max(steps, least)) {}

  /// Step `step` begins at `now`, in microseconds. Whether the last steps took longer than others
  /// since forget().
  bool is_slower(std::uint64_t step, double now) noexcept {
    if (first_ != none && step - first_ < at_once_) return false;
    const double time = first_ == none ? 0 : (now - began_) / static_cast<double>(step - first_);
    first_ = step, began_ = now;
    if (time == 0) return false;
    if (usual_ == 0 || time < usual_) usual_ = time;
    return time > noticed * usual_;
  }
  /// From now on, what was before counts no more.
  void forget() noexcept { first_ = none, usual_ = 0; }

private:
  static constexpr std::uint64_t least = 8, none = ~std::uint64_t{0};
  /// Steps of a machine that does something else meanwhile differ by less, most of the time.
  static constexpr double noticed = 1.25;
  const std::uint64_t at_once_;
  std::uint64_t first_ = none;  // the first of the steps that are looked at
  double began_ = 0;            // when that began
  double usual_ = 0;            // how long a step took, where they were fastest; 0: not known
};

}  // namespace cleave::detail
