#include "cutoff/learner.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>

namespace cleave::detail {
namespace {

// Microseconds.
constexpr unsigned short_time = 16;        // some hundred times what a frame costs
constexpr unsigned wrong_time = 256;       // no such thing should be undivided
constexpr unsigned window_time = 1000;     // enough for some dozens that are just not short
constexpr unsigned first_window = 200;     // a guess: programs may take a millisecond
constexpr unsigned longest_window = 8000;  // beyond the others, where nothing took long

constexpr unsigned window_size = 64;  // timed constructs
constexpr unsigned few = 4;           // wrong ones, that are too many: a virtual machine may pause

bool is_far_too_long(std::uint64_t ticks) noexcept {
  return ticks > wrong_time * ticks_per_microsecond();
}

}  // namespace

bool cutoff_learner::is_long(std::uint64_t ticks) noexcept {
  return ticks > short_time * ticks_per_microsecond();
}

void cutoff_learner::add(std::size_t depth, std::uint64_t begin, std::uint64_t end,
                         bool undivided) noexcept {
  const std::uint64_t microsecond = ticks_per_microsecond(), taken = end - begin;
  if (until_ == 0) until_ = begin + first_window * microsecond;
  shallowest_ = std::min(shallowest_, depth);
  below_ = std::max(below_, depth);
  if (is_long(taken)) deepest_ = std::max(deepest_, depth);
  if (undivided && is_far_too_long(taken) && ++wrong_ == few) *this = {};
  const std::uint64_t wait = deepest_ != 0 ? 0 : longest_window * microsecond;
  if (++seen_ >= window_size && end >= until_ + wait) {
    // Until something short is seen below the long ones there is nothing to leave undivided.
    if (learnt() || below_ > deepest_) depth_ = std::max({previous_, deepest_, shallowest_});
    previous_ = deepest_;
    below_ = deepest_ = 0, shallowest_ = none, wrong_ = seen_ = 0;
    until_ = end + window_time * microsecond;
  }
}

void cutoff_learner::add_piece(std::size_t depth, std::uint64_t ticks) noexcept {
  if (depth > depth_ && is_far_too_long(ticks)) *this = {};
}

}  // namespace cleave::detail
