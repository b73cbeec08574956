#pragma once

#include <cleave/detail/clock.hpp>

#include <cstdint>

/// How fast loops of unknown bodies are, and how often they look at the clock.
namespace cleave::detail {

/// Microseconds between two looks at the clock, or one iteration.
inline constexpr unsigned pace = 4;

/// The first iterations, whose time is taken together.
inline constexpr unsigned sampled = 8;

/// Whether so many iterations took a few nanoseconds each.
inline bool is_cheap(std::uint64_t iterations, std::uint64_t elapsed) noexcept {
  constexpr unsigned most = 250;  // of them in a microsecond
  return elapsed * most < iterations * ticks_per_microsecond();
}

/// How many iterations to run until the next look, if the last `run` took `elapsed` ticks.
[[gnu::noinline]] std::uint64_t next_run(std::uint64_t run, std::uint64_t elapsed) noexcept;

}  // namespace cleave::detail
