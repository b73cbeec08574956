#pragma once

#include "machine/futex.hpp"

#include <chrono>
#include <thread>

namespace cleave::machine {

/// How long a waiter spins before it blocks: about what blocking and being woken costs.
constexpr std::chrono::nanoseconds spin_time = std::chrono::microseconds(20);

/// True until `longest` has passed since the first call; at once false where others want the CPU.
/// After `spin_time` others get it now and then if they do.
class spinner {
public:
  explicit spinner(bool oversubscribed, std::chrono::nanoseconds longest = spin_time) noexcept
      : over_(oversubscribed), longest_(longest) {}

  bool operator()() noexcept {
    if (over_) return false;
    pause();
    if (++looks_ % 8 != 0) return true;
    const auto now = std::chrono::steady_clock::now();
    if (begun_ == std::chrono::steady_clock::time_point{}) begun_ = now;
    if (now - begun_ >= longest_) return false;
    if (looks_ % 256 == 0 && now - begun_ >= spin_time) std::this_thread::yield();
    return true;
  }
  void restart() noexcept { begun_ = {}, looks_ = 0; }

private:
  bool over_;
  std::chrono::nanoseconds longest_;
  unsigned looks_ = 0;  // the clock is read at every eighth
  std::chrono::steady_clock::time_point begun_{};
};

}  // namespace cleave::machine
