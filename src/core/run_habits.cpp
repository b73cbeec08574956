#include "core/run_habits.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <bit>

namespace cleave::detail {
namespace {

// Microseconds.
constexpr unsigned short_work = 3;     // no more than dividing it takes, where a worker is awake
constexpr unsigned asleep_work = 40;   // the same, where one has to be woken
constexpr unsigned longest_gap = 100;  // nobody stays awake for a longer one
constexpr unsigned known = 1000;       // more counts as this

/// Divided runs do not tell how much work they are. If that may be little, one in so many is
/// undivided for a while, to see it.
constexpr std::uint32_t runs_a_look = 32;

/// One in so many runs is timed where they are short.
constexpr std::uint32_t runs_a_timing = 4;

/// How many runs have to pass over a worker that sleeps before it is woken for the next ones.
constexpr std::uint32_t fewest_passed_over = 8;

std::uint64_t microseconds(unsigned n) noexcept { return n * ticks_per_microsecond(); }

}  // namespace

run_habits::run_habits() noexcept : work_(microseconds(known)), gap_(work_) {}

bool run_habits::times_next() const noexcept {
  return work_ > microseconds(short_work) || runs_ % runs_a_timing == 0;
}

bool run_habits::are_short() const noexcept {
  return work_ < microseconds(asleep_work) && gap_ < microseconds(longest_gap);
}

std::uint64_t run_habits::begin(std::uint64_t now, bool asleep) noexcept {
  ++runs_;
  bool wakes = false;
  if (asleep) wakes = wakes_sleeper();
  else if (passed_over_ != 0) --passed_over_;
  const std::uint64_t enough = microseconds(asleep && !wakes ? asleep_work : short_work);
  if (now == 0) {
    ended_ = 0;
    return enough;
  }
  if (ended_ != 0) gap_ = (3 * gap_ + std::min(now - ended_, microseconds(known))) / 4;
  began_ = now;
  patient_ = work_ < enough || (runs_ % runs_a_look == 0 && work_ < 8 * enough);
  return patient_ ? enough : 0;
}

bool run_habits::wakes_sleeper() noexcept {
  if (work_ <= microseconds(short_work) || gap_ >= microseconds(longest_gap)) return false;
  ++passed_over_;
  return std::has_single_bit(passed_over_) && passed_over_ >= fewest_passed_over;
}

std::uint64_t run_habits::end(std::uint64_t now, bool divided) noexcept {
  ended_ = now;
  const std::uint64_t took = std::min(now - began_, microseconds(known));
  // One long run is enough to wait no more: that could cost it half of its time.
  if (took > work_) work_ = divided ? std::min(2 * took, microseconds(known)) : took;
  else if (!divided) work_ = (work_ + took) / 2;
  else if (!patient_ && took < work_ / 4) work_ -= work_ / 16;
  return work_ > microseconds(short_work) && gap_ < microseconds(longest_gap) ? 2 * gap_ : 0;
}

}  // namespace cleave::detail
