#include "core/cutoff.hpp"

#include <cleave/detail/pace.hpp>

#include <algorithm>
#include <utility>

namespace cleave::detail {
namespace {

// Microseconds.
constexpr unsigned short_time = 4;      // some hundred times what a frame costs
constexpr unsigned wrong_time = 64;     // no such thing should be undivided
constexpr unsigned window_time = 1000;  // enough for some hundreds that are just not short
constexpr unsigned patience = 8000;     // beyond that, if hardly anything was not short

constexpr unsigned window_size = 64;  // timed constructs
constexpr unsigned beyond_size = 32;  // pieces: at the end of a run there are always some

}  // namespace

bool cutoff::add(std::size_t depth, std::uint64_t begin, std::uint64_t end,
                 bool undivided) noexcept {
  const std::size_t before = depth_;
  const std::uint64_t microsecond = ticks_per_microsecond(), taken = end - begin;
  if (until_ == 0) until_ = begin + window_time * microsecond;
  if (taken > short_time * microsecond) {
    for (std::size_t& d : deepest_)
      if (depth > d) std::swap(depth, d);
  }
  if (undivided && taken > wrong_time * microsecond && ++far_too_long_ == outliers) *this = {};
  const std::uint64_t wait = deepest_.back() != 0 ? 0 : patience * microsecond;
  if (++seen_ >= window_size && end >= until_ + wait) {
    depth_ = std::max(previous_, deepest_.back());
    previous_ = deepest_.back();
    deepest_.fill(0);
    far_too_long_ = seen_ = 0;
    until_ = end + window_time * microsecond;
  }
  return depth_ != before;
}

bool cutoff::given(std::size_t depth, std::uint64_t now) noexcept {
  if (depth <= depth_) return false;
  if (now - beyond_since_ > window_time * ticks_per_microsecond()) beyond_ = 0, beyond_since_ = now;
  if (++beyond_ < beyond_size) return false;
  *this = {};
  return true;
}

}  // namespace cleave::detail
