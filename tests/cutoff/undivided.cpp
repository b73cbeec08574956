// Where one worker's constructs run undivided, and whom it answers later: the class by itself.
#include "cutoff/cutoff.hpp"

#include <gtest/gtest.h>
#include <cleave/detail/clock.hpp>

#include <chrono>

namespace cleave::tests {
namespace {

using detail::here;

class undivided : public testing::Test {
protected:
  static constexpr std::uintptr_t base = 1'000'000;
  static constexpr std::size_t depth = 1000;

  /// A task begins, whose constructs of that depth are short.
  undivided() {
    of.begin_task(0);
    of.begin_timing(base, false);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (of.address() == 0 && std::chrono::steady_clock::now() < end) {
      of.begin_timing(base - depth, false);
      of.end_timing(of.timing_since(), base - depth);
    }
  }
  ~undivided() override { here.unlisted = 0, here.until_timed = 1; }

  detail::cutoff of{true};
};

TEST_F(undivided, is_what_is_as_deep_as_short_constructs) { EXPECT_EQ(of.address(), base - depth); }

/// Somebody has looked for frames while a step was on no list.
TEST_F(undivided, is_nothing_inside_a_step_that_others_wait_for_and_all_as_before_after_it) {
  here.unlisted = 1;
  EXPECT_EQ(of.address(), base - depth);
  of.begin_division();
  EXPECT_EQ(of.address(), 0u);
  EXPECT_FALSE(of.answers_later(false));
  here.unlisted = 0;
  EXPECT_EQ(of.address(), base - depth);
}

/// A worker that gives parts again and again, soon one after the other, is asked for small ones.
TEST_F(undivided, is_nothing_for_200_us_after_parts_were_given_twice_within_that_time) {
  const std::uint64_t often = 200 * detail::ticks_per_microsecond();
  const std::uint64_t past = detail::ticks() - 4 * often;
  for (const std::uint64_t when : {past, past + often}) {
    of.gave(when, 1);
    EXPECT_EQ(of.address(), base - depth) << "that was once";
  }
  of.gave(past + often + 1, 1);
  EXPECT_EQ(of.address(), base - depth) << "that is over";

  const std::uint64_t future = detail::ticks() + 1'000'000 * often;  // over long after the test
  for (const std::uint64_t took : {std::uint64_t{1}, often / 4, std::uint64_t{0}}) {
    of.gave(future, took);
    EXPECT_EQ(of.address(), base - depth) << "once, or to who had a large part, or none";
  }
  here.until_timed = 1000;
  of.gave(future + 1, often / 4 - 1);
  EXPECT_EQ(of.address(), 0u);
  EXPECT_LE(here.until_timed, 32u) << "a timed construct sees when it is over";
}

TEST_F(undivided, is_decided_for_each_task_by_itself) {
  here.unlisted = 1;
  of.begin_division();
  const auto outer = of.begin_task(500);
  EXPECT_EQ(of.address(), 0u);  // it has no construct yet
  of.begin_timing(base - 10, false);
  EXPECT_EQ(of.depth_of(base - 10), 500u);
  EXPECT_EQ(of.address(), base - 10 + 500 - depth);
  of.end_task(outer);
  EXPECT_EQ(of.address(), 0u);
  EXPECT_EQ(of.depth_of(base - 10), 10u);
}

TEST_F(undivided, a_first_construct_without_a_timing_counts_all_the_same) {
  const auto outer = of.begin_task(500);
  here.until_timed = 1000;
  EXPECT_TRUE(of.begin_untimed(base - 10));
  EXPECT_EQ(of.depth_of(base - 10), 500u);
  EXPECT_EQ(of.address(), base - 10 + 500 - depth);
  EXPECT_EQ(here.until_timed, 1u);
  EXPECT_FALSE(of.begin_untimed(base - 20)) << "the second one";
  EXPECT_EQ(of.depth_of(base - 10), 500u);
  of.end_task(outer);
}

TEST_F(undivided, constructs_with_steps_keep_waiting_who_asks) {
  EXPECT_FALSE(of.answers_later(false));  // none is under way
  here.unlisted = 1;
  for (int k = 0; k < 1000; ++k) EXPECT_TRUE(of.answers_later(false));
}

/// Many polls, in however short a time, or a long time, with however few polls, are not enough.
TEST_F(undivided, constructs_with_steps_keep_waiting_who_insists_for_20_us_and_64_polls) {
  here.unlisted = 1;
  const std::uint64_t whole = 20 * detail::ticks_per_microsecond();
  std::uint64_t since = detail::ticks();
  while (of.answers_later(true)) continue;
  EXPECT_GE(detail::ticks() - since, whole);

  here.unlisted = 0, of.address();  // that one is over
  here.unlisted = 1;
  EXPECT_TRUE(of.answers_later(true));
  for (since = detail::ticks(); detail::ticks() - since < whole;) continue;
  int polls = 1;
  while (of.answers_later(true)) ++polls;
  EXPECT_EQ(polls, 63);
}

}  // namespace
}  // namespace cleave::tests
