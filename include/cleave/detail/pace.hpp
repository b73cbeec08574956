#pragma once

#include <cleave/detail/clock.hpp>

#include <cstdint>

/// How often a loop of unknown bodies polls: each time that so many microseconds have passed.
namespace cleave::detail {

inline constexpr unsigned pace = 4;

/// A loop polls in each of its first iterations, and times the second half of them.
inline constexpr unsigned sampled = 8;

/// How many iterations to run until the next poll, if the last `run` took `elapsed` ticks: those of
/// one pace; 1 if that is not worth a loop of its own.
[[gnu::noinline]] std::uint64_t next_run(std::uint64_t run, std::uint64_t elapsed) noexcept;

}  // namespace cleave::detail
