#include <cleave/detail/clock.hpp>
#include <cleave/detail/division/pace.hpp>
#include <cleave/detail/frame.hpp>

#include <algorithm>

namespace cleave::detail {
namespace {

/// How many iterations run between two polls at most, where the clock does not say it.
constexpr std::uint64_t most_unclocked = 4096;

}  // namespace

std::uint64_t next_run(std::uint64_t run, std::uint64_t elapsed) noexcept {
  // Under CLEAVE_CHECK a program polls at the same places each time that it runs.
  if ((rung_signals() & checking) != 0)
    return std::min(std::max(run, std::uint64_t{1}) * 8, most_unclocked);
  // At most eight times as many as before: the next iterations may not be like the last.
  const std::uint64_t next = std::min(run * 8, run * block_microseconds * ticks_per_microsecond() /
                                                   std::max<std::uint64_t>(1, elapsed));
  return std::max<std::uint64_t>(next, 1);
}

}  // namespace cleave::detail
