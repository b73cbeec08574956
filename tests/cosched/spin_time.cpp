#include "cosched/spin_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using namespace cleave::cosched;

constexpr nanoseconds block = 40'000;

nanoseconds cost_of(nanoseconds spin, nanoseconds wait) {
  return wait <= spin ? wait : spin + block;
}

struct costs_of_waits {
  double learnt = 0, best_fixed = 0;
};

costs_of_waits cost(const std::vector<nanoseconds>& waits) {
  constexpr int choices = 6;
  const nanoseconds fixed[choices] = {0, block / 8, block / 4, block / 2, block, 2 * block};
  spin_time learns(policy::adaptive, 0, block, 7);
  costs_of_waits c;
  double sums[choices] = {};
  for (const nanoseconds w : waits) {
    c.learnt += static_cast<double>(cost_of(learns.next(), w));
    learns.saw(w);
    for (int i = 0; i < choices; ++i) sums[i] += static_cast<double>(cost_of(fixed[i], w));
  }
  c.best_fixed = *std::min_element(sums, sums + choices);
  return c;
}

/// The bound that spin_time.hpp states, with some room for chance.
void stays_near_the_best(const std::vector<nanoseconds>& waits) {
  const costs_of_waits c = cost(waits);
  const double start =
      9 * 3 * static_cast<double>(block);  // (ln 6 / 0.2) · the largest cost of one wait
  EXPECT_LE(c.learnt, 1.25 * c.best_fixed + start);
}

std::vector<nanoseconds> always(nanoseconds w) { return std::vector<nanoseconds>(20'000, w); }

TEST(adaptive, short_waits) { stays_near_the_best(always(3'000)); }
TEST(adaptive, waits_of_a_wake_up) { stays_near_the_best(always(39'000)); }
TEST(adaptive, long_waits) { stays_near_the_best(always(3'000'000)); }

TEST(adaptive, random_waits) {
  std::mt19937_64 random(3);
  for (const double mean : {2e3, 2e4, 1e5, 1e6}) {
    std::exponential_distribution<double> length(1 / mean);
    std::vector<nanoseconds> waits(20'000);
    for (auto& w : waits) w = static_cast<nanoseconds>(length(random));
    stays_near_the_best(waits);
  }
}

TEST(adaptive, two_kinds_of_waits) {
  std::vector<nanoseconds> waits;
  for (int i = 0; i < 20'000; ++i) waits.push_back(i % 3 == 0 ? 5'000'000 : 8'000);
  stays_near_the_best(waits);
}

TEST(adaptive, prefers_what_fits) {
  spin_time s(policy::adaptive, 0, block, 1), l(policy::adaptive, 0, block, 1);
  for (int i = 0; i < 5'000; ++i) s.saw(30'000), l.saw(3'000'000);
  EXPECT_GE(s.typical(), 30'000);
  EXPECT_EQ(l.typical(), 0);
}

TEST(adaptive, learns_again) {
  spin_time s(policy::adaptive, 0, block, 1);
  for (int i = 0; i < 5'000; ++i) s.saw(3'000'000);
  for (int i = 0; i < 5'000; ++i) s.saw(30'000);
  EXPECT_GE(s.typical(), 30'000);
}

TEST(policies, times) {
  EXPECT_EQ(spin_time(policy::two_phase, 123, block, 1).next(), 123);
  EXPECT_EQ(spin_time(policy::block, 123, block, 1).next(), 0);
  EXPECT_GT(spin_time(policy::spin, 123, block, 1).next(), nanoseconds{1} << 60);
  EXPECT_EQ(spin_time(policy::logp, 123, block, 1).next(), 123);
  EXPECT_EQ(policy_named("two-phase"), policy::two_phase);
  EXPECT_EQ(policy_named("two phase"), std::nullopt);
  EXPECT_STREQ(name_of(policy::adaptive), "adaptive");
}

}  // namespace
