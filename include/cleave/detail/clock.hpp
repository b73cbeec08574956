#pragma once

#include <chrono>
#include <cstdint>

/// The cheapest clock that the processor has.
namespace cleave::detail {

/// Reads the clock, which takes some 20 cycles.
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

/// About how many ticks a microsecond has: exact enough to tell short from long.
inline std::uint64_t ticks_per_microsecond() noexcept {
#if defined(__aarch64__)
  std::uint64_t frequency;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency < 1'000'000 ? 1 : frequency / 1'000'000;
#elif defined(__x86_64__) || defined(__i386__)
  return 3000;
#else
  return 1000;
#endif
}

}  // namespace cleave::detail
