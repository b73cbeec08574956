#pragma once

#include <chrono>
#include <cstdint>

/// How often a loop of unknown bodies polls.
namespace cleave::detail {

/// A loop polls in each of its first iterations, and times the second half of them.
inline constexpr unsigned sampled = 8;

/// The cheapest clock that the processor has; some 20 cycles.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// About so many; exact enough to tell short from long.
std::uint64_t ticks_per_microsecond() noexcept;

/// How many iterations to run until the next poll, if the last `stretch` took `elapsed` ticks: about a
/// microsecond's worth; 1 if that is not worth a loop of its own.
[[gnu::noinline]] std::uint64_t next_stretch(std::uint64_t stretch, std::uint64_t elapsed) noexcept;

}  // namespace cleave::detail
