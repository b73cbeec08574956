#pragma once

#include "cosched/spin_time.hpp"

#include <cstdint>

namespace cleave::cosched {

/// How often a rank calls MPI: over the last 40 to 80 ms, or less if it has just begun to look.
class recent_calls {
public:
  /// A wait has ended, after `calls` calls in all.
  void saw(nanoseconds at, std::int64_t calls) noexcept {
    const point p{at, calls};
    if (last_.at == 0 || at - last_.at > longest_gap) from_ = middle_ = p;
    if (at - middle_.at >= half) from_ = middle_, middle_ = p;
    last_ = p;
  }
  void forget() noexcept { last_ = {}; }

  /// The time from one call to the next; 0: too few of them were seen, or for too short a time.
  nanoseconds apart() const noexcept {
    if (last_.at == 0) return 0;
    const nanoseconds time = last_.at - from_.at;
    const std::int64_t calls = last_.calls - from_.calls;
    return time < least || calls * seldom < time ? 0 : time / calls;
  }

  static constexpr nanoseconds half = 40'000'000, least = 30'000'000;
  /// A rank whose calls are further apart than this finds little to gain in turns, and does not
  /// hear of them in time.
  static constexpr nanoseconds seldom = 4'000'000;
  /// What came before a wait that is longer than this says nothing about what comes after it.
  static constexpr nanoseconds longest_gap = 40'000'000;

private:
  struct point {
    nanoseconds at = 0;
    std::int64_t calls = 0;
  };
  point from_, middle_, last_;
};

}  // namespace cleave::cosched
