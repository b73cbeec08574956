#pragma once

#include "machine/futex.hpp"

#include <chrono>

namespace cleave::machine {

/// The first phase of waiting: true until about as much time has passed since the first call as
/// blocking and being woken costs; at once false where others want the CPU.
class spinner {
public:
  explicit spinner(bool oversubscribed) noexcept : over_(oversubscribed) {}

  bool operator()() noexcept {
    if (over_) return false;
    for (int i = 0; i < 4; ++i) pause();
    const auto now = std::chrono::steady_clock::now();
    if (end_ == std::chrono::steady_clock::time_point{}) end_ = now + time;
    return now < end_;
  }
  void restart() noexcept { end_ = {}; }

private:
  static constexpr std::chrono::nanoseconds time = std::chrono::microseconds(20);
  bool over_;
  std::chrono::steady_clock::time_point end_{};
};

}  // namespace cleave::machine
