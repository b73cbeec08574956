#include <cleave/detail/clock.hpp>

#include <algorithm>

namespace cleave::detail {

std::uint64_t ticks_per_microsecond() noexcept {
#if defined(__aarch64__)
  std::uint64_t frequency;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return std::max<std::uint64_t>(1, frequency / 1'000'000);
#elif defined(__x86_64__) || defined(__i386__)
  return 3000;
#else
  return 1000;
#endif
}

}  // namespace cleave::detail
