#include "cosched/demand.hpp"

#include <algorithm>
#include <cmath>

namespace cleave::cosched {

void demand::decay(nanoseconds at) noexcept {
  if (at <= counted_at_) return;
  count_ *= std::exp2(-static_cast<double>(at - counted_at_) / static_cast<double>(half_life));
  counted_at_ = at;
}

void demand::signs(nanoseconds at, double n) noexcept {
  decay(at);
  count_ = std::min(count_ + n, 4 * from);  // how much more does not matter
  if (wanted_ || count_ < from) return;
  wanted_ = true;
  hold_ = at - free_since_ < 4 * hold_ ? std::min(2 * hold_, longest) : shortest;
  hold_until_ = at + hold_;
}

void demand::switches(nanoseconds at, std::int64_t so_far) noexcept {
  if (switches_ && so_far > *switches_) {
    // The new switches count as if they had come evenly since they were told last; most of them may
    // be long ago.
    const double halves =
        std::max(1e-6, static_cast<double>(at - told_at_) / static_cast<double>(half_life));
    const double left = (1 - std::exp2(-halves)) / (halves * std::log(2));
    signs(at, left * static_cast<double>(so_far - *switches_));
  }
  switches_ = so_far, told_at_ = at;
}

bool demand::is_wanted(nanoseconds at) noexcept {
  decay(at);
  if (wanted_ && at >= hold_until_ && count_ < until) wanted_ = false, free_since_ = at;
  return wanted_;
}

}  // namespace cleave::cosched
