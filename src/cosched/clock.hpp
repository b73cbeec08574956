#pragma once

#include <ctime>

#include "cosched/spin_time.hpp"

namespace cleave::cosched {

/// The monotonic clock, which is the same for all processes of a machine.
inline nanoseconds now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * nanoseconds{1'000'000'000} + t.tv_nsec;
}

}  // namespace cleave::cosched
