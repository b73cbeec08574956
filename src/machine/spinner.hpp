#pragma once

#include "machine/futex.hpp"

#include <chrono>

namespace cleave::machine {

/// How long a waiter spins before it blocks: about what blocking and being woken costs.
constexpr std::chrono::nanoseconds spin_time = std::chrono::microseconds(20);

/// True until `spin_time` has passed since the first call; at once false where others want the CPU.
class spinner {
public:
  explicit spinner(bool oversubscribed) noexcept : over_(oversubscribed) {}

  bool operator()() noexcept {
    if (over_) return false;
    for (int i = 0; i < 4; ++i) pause();
    const auto now = std::chrono::steady_clock::now();
    if (end_ == std::chrono::steady_clock::time_point{}) end_ = now + spin_time;
    return now < end_;
  }
  void restart() noexcept { end_ = {}; }

private:
  bool over_;
  std::chrono::steady_clock::time_point end_{};
};

}  // namespace cleave::machine
