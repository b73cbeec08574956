// How much is given of a loop, and where a worker knows that its next look for requests is near.
#include "core/poll_gaps.hpp"

#include <cleave/cleave.hpp>
#include <cleave/detail/clock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

namespace cleave::tests {
namespace {

using detail::begin_of_share;

TEST(share_of_a_loop, is_one_of_equal_ones_and_leaves_the_current_iteration) {
  EXPECT_EQ(begin_of_share(0, 10, 2), 5);
  EXPECT_EQ(begin_of_share(0, 9, 2), 5);
  EXPECT_EQ(begin_of_share(0, 9, 3), 6);
  EXPECT_EQ(begin_of_share(0, 9, 100), 8);
  EXPECT_EQ(begin_of_share(7, 9, 2), 8);
}

TEST(share_of_a_loop, is_all_but_the_current_iteration_where_there_is_one_share) {
  EXPECT_EQ(begin_of_share(0, 10, 1), 1);
  EXPECT_EQ(begin_of_share(7, 9, 1), 8);
  constexpr auto least = std::numeric_limits<signed char>::min(),
                 most = std::numeric_limits<signed char>::max();
  EXPECT_EQ(begin_of_share<signed char>(least, most, 1), least + 1);
  EXPECT_EQ(begin_of_share<std::uint64_t>(0, ~std::uint64_t{0}, 1), 1U);
}

class poll_gaps : public testing::Test {
protected:
  std::array<detail::frame_type, 40> types{};  // more than are known at once

  void gap(const detail::frame_type& t, std::uint64_t ticks) {
    gaps.looked(t, now);
    now += ticks;
    gaps.polled(now);
  }
  void short_gap(const detail::frame_type& t) { gap(t, detail::ticks_per_microsecond() / 2); }
  void long_gap(const detail::frame_type& t) { gap(t, 2 * detail::ticks_per_microsecond()); }

  detail::poll_gaps gaps;
  std::uint64_t now = 1'000'000;
};

TEST_F(poll_gaps, are_short_once_several_were) {
  const auto& t = types[0];
  int needed = 0;
  for (; !gaps.are_short(t) && needed < 100; ++needed) short_gap(t);
  EXPECT_GT(needed, 2);
  EXPECT_LT(needed, 10);
  short_gap(t);
  EXPECT_TRUE(gaps.are_short(t));
  EXPECT_FALSE(gaps.are_short(types[1]));
}

TEST_F(poll_gaps, are_not_short_after_a_long_one) {
  const auto& t = types[0];
  for (int i = 0; i < 20; ++i) short_gap(t);
  long_gap(t);
  EXPECT_FALSE(gaps.are_short(t));
  short_gap(t);
  EXPECT_FALSE(gaps.are_short(t));
}

TEST_F(poll_gaps, are_not_measured_by_a_poll_that_no_look_came_before) {
  const auto& t = types[0];
  for (int i = 0; i < 20; ++i) short_gap(t);
  now += 1'000 * detail::ticks_per_microsecond();
  gaps.polled(now);
  EXPECT_TRUE(gaps.are_short(t));
}

TEST_F(poll_gaps, of_one_type_are_not_taken_for_those_of_another) {
  for (const auto& t : types)
    for (int i = 0; i < 20; ++i) short_gap(t);
  int known = 0;
  for (const auto& t : types) known += gaps.are_short(t) ? 1 : 0;
  EXPECT_GT(known, 0);
  EXPECT_LE(known, 16);
  for (const auto& t : types) long_gap(t);
  for (const auto& t : types) EXPECT_FALSE(gaps.are_short(t));
}

}  // namespace
}  // namespace cleave::tests
