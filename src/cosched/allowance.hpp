#pragma once

#include "cosched/spin_time.hpp"

#include <algorithm>

namespace cleave::cosched {

/// CPU time that a rank may burn for nothing where nobody else wants it. A job alone shall lose no
/// time to wake-ups, and still take hardly more CPU seconds than it needs: so one part in 30 of the
/// time between its waits. What is not used is kept for a while, because waits come in bursts: as
/// much as it begins with.
class allowance {
public:
  allowance() = default;
  static allowance without_limit() noexcept {
    allowance a;
    a.limited_ = false;
    return a;
  }

  void earn(nanoseconds worked) noexcept { left_ = std::min(most, left_ + worked / one_in); }
  void spend(nanoseconds spun) noexcept { left_ -= spun; }
  bool is_left() const noexcept { return left_ > 0 || !limited_; }

  static constexpr nanoseconds one_in = 30, most = 5'000'000;

private:
  nanoseconds left_ = most;
  bool limited_ = true;
};

}  // namespace cleave::cosched
