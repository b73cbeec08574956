#include <cleave/detail/pace.hpp>

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

std::uint64_t next_stretch(std::uint64_t stretch, std::uint64_t elapsed) noexcept {
  // At most four times as many as before: the next iterations may not be like the last.
  const std::uint64_t next = std::min(
      stretch * 4, stretch * ticks_per_microsecond() / std::max<std::uint64_t>(1, elapsed));
  return next < sampled ? 1 : next;
}

}  // namespace cleave::detail
