// What is kept of a worker's spans when there is no room for all, and how its time adds up.
#include "trace/recorder.hpp"

#include <cleave/detail/division/pace.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace cleave::tests {
namespace {

using trace::activity;
using trace::recorder;

void spend(std::uint64_t ticks) {
  const std::uint64_t end = detail::ticks() + ticks;
  while (detail::ticks() < end) {}
}

struct with_recorder : testing::Test {
  std::atomic<std::uint64_t> run_began{0};
};
using recorders = with_recorder;

TEST_F(recorders, keep_all_that_there_is_room_for) {
  recorder r(10, run_began);
  r.begin(activity::task, 7, 3);
  r.begin(activity::divide);
  r.end(true);
  r.end();
  const auto all = r.spans();
  ASSERT_EQ(all.spans.size(), 2u);
  EXPECT_EQ(all.left_out, 0u);
  const auto &inner = all.spans[0], &outer = all.spans[1];
  EXPECT_EQ(inner.what, activity::divide);
  EXPECT_TRUE(inner.found);
  EXPECT_EQ(outer.made, 7u);
  EXPECT_EQ(outer.maker, 3u);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.begin, inner.end);
  EXPECT_LE(inner.end, outer.end);
}

TEST_F(recorders, have_no_more_room_for_what_is_not_over) {
  recorder r(2, run_began);
  for (int i = 0; i < 4; ++i) r.begin(activity::task);
  EXPECT_EQ(r.spans().spans.size(), 2u);
}

TEST_F(recorders, drop_the_shortest_and_say_so) {
  recorder r(64, run_began);
  constexpr std::uint64_t all_spans = 5000;
  for (std::uint64_t i = 0; i < all_spans; ++i) {
    r.begin(activity::task);
    if (i % 1000 == 500) spend(3'000'000);
    r.end();
  }
  const auto all = r.spans();
  EXPECT_LE(all.spans.size(), 64u);
  EXPECT_EQ(all.spans.size() + all.left_out, all_spans);
  const auto is_long = [](const trace::span& s) { return s.end - s.begin >= 3'000'000; };
  EXPECT_GE(std::count_if(all.spans.begin(), all.spans.end(), is_long),
            5);  // the whole run is covered
  for (const auto& s : all.spans) EXPECT_GE(s.end - s.begin, all.shortest);
}

TEST_F(recorders, keep_nothing_without_room_but_add_up) {
  recorder r(0, run_began);
  r.begin(activity::task);
  spend(100'000);
  r.end();
  EXPECT_TRUE(r.spans().spans.empty());
  EXPECT_GE(r.spent().work, 100'000u);
}

TEST_F(recorders, show_what_is_under_way) {
  recorder r(10, run_began);
  r.begin(activity::wait);
  const auto all = r.spans();
  ASSERT_EQ(all.spans.size(), 1u);
  EXPECT_GE(all.spans[0].end, all.spans[0].begin);
}

TEST_F(recorders, time_counts_where_it_was_spent) {
  recorder r(10, run_began);
  const std::uint64_t begin = detail::ticks();
  r.begin(activity::task);
  spend(100'000);
  r.begin(activity::divide);
  spend(200'000);
  r.end(true);
  r.begin(activity::join);
  spend(400'000);
  r.end(false);  // idle
  r.begin(activity::join);
  spend(800'000);
  r.end(true);
  r.end();
  const std::uint64_t passed = detail::ticks() - begin;
  const auto t = r.spent();
  EXPECT_GE(t.work, 100'000u);
  EXPECT_GE(t.dividing, 200'000u);
  EXPECT_GE(t.stealing, 800'000u);
  EXPECT_LE(t.work + t.dividing + t.stealing + 400'000, passed);
}

TEST_F(recorders, waits_before_the_run_do_not_count) {
  recorder r(10, run_began);
  r.begin(activity::wait);
  spend(1'000'000);
  run_began = detail::ticks();
  r.end(true);
  EXPECT_LT(r.spent().stealing, 1'000'000u);
}

}  // namespace
}  // namespace cleave::tests
