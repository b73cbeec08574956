#include "cosched/demand.hpp"
#include "cosched/allowance.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace cleave::cosched;

constexpr nanoseconds ms = 1'000'000, begin = 3'600'000 * ms;  // an hour after the machine's start

/// A rank that asks every `every`, and loses its CPU so often in a second. Returns in which part of
/// the time from `from` to `end` the CPU was wanted.
double part_wanted(demand& d, double switches_in_a_second, nanoseconds every, nanoseconds from,
                   nanoseconds end) {
  int wanted = 0, asked = 0;
  for (nanoseconds t = from; t < end; t += every, ++asked) {
    d.switches(
        t, static_cast<std::int64_t>(switches_in_a_second * 1e-9 * static_cast<double>(t - begin)));
    wanted += d.is_wanted(t);
  }
  return static_cast<double>(wanted) / asked;
}

TEST(demand, a_cpu_of_ones_own) {
  demand quiet, d;
  EXPECT_EQ(part_wanted(quiet, 0, ms / 10, begin, begin + 2000 * ms), 0);
  EXPECT_EQ(part_wanted(d, 10, ms / 10, begin, begin + 2000 * ms), 0) << "the kernel's threads";
}

TEST(demand, a_shared_cpu) {
  demand d;
  EXPECT_GT(part_wanted(d, 200, ms / 10, begin, begin + 1000 * ms), 0.95);
}

// Whoever computes for seconds and then asks has lost its CPU in all that time, not right now.
TEST(demand, asked_seldom) {
  demand few, many;
  EXPECT_EQ(part_wanted(few, 10, 3000 * ms, begin, begin + 60'000 * ms), 0);
  EXPECT_GT(part_wanted(many, 200, 3000 * ms, begin + 3000 * ms, begin + 60'000 * ms), 0.9);
}

TEST(demand, ends) {
  demand d;
  part_wanted(d, 200, ms / 10, begin, begin + 1000 * ms);
  EXPECT_TRUE(d.is_wanted(begin + 1000 * ms));
  EXPECT_FALSE(d.is_wanted(begin + 1000 * ms + demand::longest + 5 * demand::half_life));
}

TEST(demand, a_late_wake_up_is_a_sign_too) {
  demand d;
  d.late(begin);
  EXPECT_FALSE(d.is_wanted(begin));
  d.late(begin + ms), d.late(begin + 2 * ms);
  EXPECT_TRUE(d.is_wanted(begin + 2 * ms));
}

// A rank that sleeps before it can lose its CPU sees the others only when it spins in their way. It
// tries that less and less often.
TEST(demand, tries_seldom) {
  demand d;
  nanoseconds tried = 0;
  std::int64_t switches = 0;
  const nanoseconds step = ms / 2, end = begin + 20'000 * ms;
  for (nanoseconds t = begin; t < end; t += step) {
    d.switches(t, switches);
    if (d.is_wanted(t)) continue;
    tried += step, ++switches;  // it spun, and was sent away
  }
  EXPECT_LT(static_cast<double>(tried), 0.02 * static_cast<double>(end - begin));
}

// One that was disturbed once is as before soon.
TEST(demand, forgives) {
  demand d;
  d.switches(begin, 0), d.switches(begin + ms, 5);
  EXPECT_TRUE(d.is_wanted(begin + 2 * ms));
  EXPECT_EQ(part_wanted(d, 0, ms, begin + 300 * ms, begin + 1000 * ms), 0);
}

// One that waits long in every step burns no more than its part of what it worked.
TEST(allowance, is_a_part_of_the_work) {
  allowance a;
  nanoseconds burnt = 0;
  for (int step = 0; step < 10'000; ++step) {
    a.earn(ms);
    if (a.is_left()) a.spend(ms / 7), burnt += ms / 7;
  }
  const double part = static_cast<double>(burnt) / static_cast<double>(10'000 * ms);
  EXPECT_LT(part, 1.0 / allowance::one_in + 0.001);
  EXPECT_GT(part, 0.9 / allowance::one_in);
}

TEST(allowance, is_kept_for_a_burst_only) {
  allowance a;
  a.earn(1'000'000 * ms);
  a.spend(allowance::most);
  EXPECT_FALSE(a.is_left());
  a.earn(ms);
  EXPECT_TRUE(a.is_left());
}

TEST(allowance, without_limit) {
  allowance a = allowance::without_limit();
  a.spend(1'000'000 * ms);
  EXPECT_TRUE(a.is_left());
}

TEST(demand, free_spin) {
  EXPECT_EQ(free_spin_for(1'000), 120'000);
  EXPECT_EQ(free_spin_for(35'000), 140'000);
  EXPECT_EQ(free_spin_for(200'000), 400'000);
}

}  // namespace
