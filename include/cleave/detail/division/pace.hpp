#pragma once

#include <cleave/detail/clock.hpp>

#include <cstdint>

/// How long a loop runs without a look at the clock, or at the word that others ring.
namespace cleave::detail {

/// How many microseconds a block of iterations takes, or one iteration: a loop that could be
/// divided looks at the clock between two blocks.
inline constexpr unsigned block_microseconds = 4;

/// The time of so many iterations, the first ones, is taken together.
inline constexpr unsigned sampled = 8;

/// Iterations that run without a look at the word that others ring. A constant, for which GCC needs
/// no remainder and vectorises at -O2 too; 16 it would unroll, without vectors.
///
/// Nobody can interrupt a body, so a loop looks after each iteration: whatever earlier ones took,
/// the next may take an hour. A look costs 0.3 to 0.5 ns and rules out vectors: 3 to 10 times what
/// the smallest bodies take. Those run in strips: bodies that do nothing which the compiler does
/// not see (may_take_long), while an iteration takes a few nanoseconds. If arithmetic alone makes
/// the next ones long, the strip is finished first.
inline constexpr int strip = 64;

/// Whether so many iterations took a few nanoseconds each.
inline bool is_cheap(std::uint64_t iterations, std::uint64_t elapsed) noexcept {
  constexpr unsigned most = 250;  // iterations in a microsecond
  return elapsed * most < iterations * ticks_per_microsecond();
}

/// How many iterations to run until the next look, if the last `run` took `elapsed` ticks.
[[gnu::noinline]] std::uint64_t next_run(std::uint64_t run, std::uint64_t elapsed) noexcept;

}  // namespace cleave::detail
