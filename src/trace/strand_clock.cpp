#include "trace/strand_clock.hpp"

#include "machine/thread.hpp"

#include <algorithm>
#include <array>

namespace cleave::trace {

strand_clock::strand_clock() noexcept : suspicious_(20 * detail::ticks_per_microsecond()) {
  // The median: some readings of the clock overlap and seem to take no time.
  std::array<std::uint64_t, 1001> empty{};
  for (auto& strand : empty) {
    resume();
    strand = detail::ticks() - since_;
  }
  std::nth_element(empty.begin(), empty.begin() + empty.size() / 2, empty.end());
  own_ = empty[empty.size() / 2];
}

void strand_clock::begin() noexcept {
  off_cpu();
  resume();
}

std::uint64_t strand_clock::off_cpu() noexcept {
  const std::uint64_t now = detail::ticks(), cpu = machine::cpu_time();
  const auto time = std::chrono::steady_clock::now();
  const double passed = std::chrono::duration<double, std::nano>(time - seen_time_).count();
  const double off = passed - static_cast<double>(cpu - seen_cpu_);
  const auto ticks = static_cast<double>(now - seen_ticks_);
  seen_ticks_ = now, seen_cpu_ = cpu, seen_time_ = time;
  // Less is the two clocks' own error.
  constexpr double least = 1000;
  return off > least ? static_cast<std::uint64_t>(off * ticks / passed) : 0;
}

}  // namespace cleave::trace
