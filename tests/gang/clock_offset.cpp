#include "gang/clock_offset.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using gang::clock_offset;
using gang::moment;
using namespace std::chrono_literals;

TEST(clock_offset, is_not_known_without_an_answer) { EXPECT_FALSE(clock_offset().at(1s)); }

// Whatever each way takes, the offset is wrong by no more than it says, drift included.
TEST(clock_offset, is_wrong_by_no_more_than_it_says) {
  std::mt19937_64 random(3);
  for (int run = 0; run < 200; ++run) {
    const auto drawn = [&](auto most) {
      return moment(
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(moment(most).count())));
    };
    const moment ahead = drawn(2000s) - 1000s;
    const double drift = (static_cast<double>(random() % 1000) - 500) * 1e-7;  // up to 50 ppm
    const auto there = [&](moment t) {
      return t + ahead + moment(static_cast<std::int64_t>(static_cast<double>(t.count()) * drift));
    };
    const moment one_way = drawn(30ms);
    clock_offset clock;
    moment t = 100s;
    for (int k = 0; k < 100; ++k, t += 200ms) {
      const moment arrived = t + one_way + drawn(5ms), left = arrived + drawn(2ms);
      const moment back = left + one_way + drawn(k % 10 == 0 ? 40ms : 4ms);
      clock.add(t, there(arrived), there(left), back);
      const auto known = clock.at(back).value();
      const moment wrong = std::chrono::abs(known.offset - (there(back) - back));
      ASSERT_LE(wrong, known.error + 1us);
      ASSERT_LE(known.error, one_way + 30ms);
    }
    const auto known = clock.at(t).value();
    EXPECT_LE(std::chrono::abs(known.offset - (there(t) - t)), 4ms);
    EXPECT_GE(known.round_trip, 2 * one_way);
  }
}

// A ping that was held up says little: the one that was not counts.
TEST(clock_offset, follows_the_quickest) {
  clock_offset clock;
  clock.add(0ms, 1010ms, 1010ms, 20ms);  // 1 s ahead
  clock.add(100ms, 1190ms, 1190ms, 200ms);
  EXPECT_EQ(clock.at(200ms).value().offset, 1s);
}

// While no ping comes back, clocks drift apart.
TEST(clock_offset, is_known_worse_as_time_goes_by) {
  clock_offset clock;
  clock.add(0ms, 1001ms, 1001ms, 2ms);
  EXPECT_EQ(clock.at(2ms).value().error, 1ms);
  EXPECT_EQ(clock.at(10'002ms).value().error, 2ms);
  clock.add(10'000ms, 11'001'500us, 11'001'500us, 10'003ms);  // slower, and newer
  EXPECT_EQ(clock.at(10'003ms).value().error, 1'500us);
}

}  // namespace
