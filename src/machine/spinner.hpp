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
    pause();
    if (++looks_ % 8 != 0) return true;
    const auto now = std::chrono::steady_clock::now();
    if (end_ == std::chrono::steady_clock::time_point{}) end_ = now + spin_time;
    return now < end_;
  }
  void restart() noexcept { end_ = {}, looks_ = 0; }

private:
  bool over_;
  unsigned looks_ = 0;  // the clock is read at every eighth
  std::chrono::steady_clock::time_point end_{};
};

}  // namespace cleave::machine
