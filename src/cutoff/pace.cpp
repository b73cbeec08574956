#include <cleave/detail/clock.hpp>
#include <cleave/detail/division/pace.hpp>

#include <algorithm>

namespace cleave::detail {

std::uint64_t next_run(std::uint64_t run, std::uint64_t elapsed) noexcept {
  // At most eight times as many as before: the next iterations may not be like the last.
  const std::uint64_t next = std::min(run * 8, run * block_microseconds * ticks_per_microsecond() /
                                                   std::max<std::uint64_t>(1, elapsed));
  return std::max<std::uint64_t>(next, 1);
}

}  // namespace cleave::detail
