// Time: in seconds, and in the clocks that processors count, which is what the paper reports.
#pragma once

#include <chrono>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Clocks, which tick at a constant rate, the same on all processors.
inline std::uint64_t cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t t;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Keeps a processor busy for about `amount` clocks: each multiplication waits three clocks for the
// one before it, whatever the other thread of the same core does (an empty loop would take twice
// as long beside another one). A loop, not a wait: it takes longer where the processor is slower.
// It is a function of its own: otherwise it would lie differently in cache lines for each system.
[[gnu::noinline, gnu::aligned(64)]] inline void consume(std::uint64_t amount) {
  std::uint64_t product = 3;
  for (std::uint64_t i = 0; i < amount; i += 3) {
    product *= product;
    asm volatile("" : "+r"(product));
  }
}

}  // namespace bench
