// What nodes tell of themselves, and how their clocks are compared.
#include "node/report.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace cleave;
using net::bytes;

net::node_report sample() {
  net::node_report r;
  r.clock_us = 1.5e12;
  r.workers = 2, r.splits = 300, r.requests = 70000;
  r.cpu_seconds = 3.25;
  r.tasks_in = 5, r.tasks_out = 6;
  r.carried.sent = 7, r.carried.received = 8, r.carried.sent_bytes = 9,
  r.carried.received_bytes = 10;
  r.stayed = {{"call<f>", "argument 1, int*, cannot be serialized", 11}};
  auto& t = r.trace.emplace();
  t.first_tick = 1'000'000, t.first_us = 17.5, t.us_per_tick = 0.0005;
  t.spent.work = 1.25, t.spent.dividing = 0.5, t.spent.stealing = 0.125;
  t.workers.resize(2);
  t.workers[1].left_out = 3, t.workers[1].shortest = 4;
  t.workers[1].spans = {
      {1'000'500, 1'002'000, 900'000, 1, 3, trace::activity::task, false, "force"},
      {1'002'100, 1'002'200, 0, 0, 0, trace::activity::join, true}};
  return r;
}

TEST(report, comes_back_as_it_was) {
  const auto back = net::decode_report(net::encode(sample()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->clock_us, 1.5e12);
  EXPECT_EQ(back->splits, 300u);
  EXPECT_EQ(back->cpu_seconds, 3.25);
  EXPECT_EQ(back->carried.sent_bytes, 9u);
  ASSERT_EQ(back->stayed.size(), 1u);
  EXPECT_EQ(back->stayed[0].task, "call<f>");
  EXPECT_EQ(back->stayed[0].why, "argument 1, int*, cannot be serialized");
  EXPECT_EQ(back->stayed[0].times, 11u);
  ASSERT_TRUE(back->trace);
  ASSERT_EQ(back->trace->workers.size(), 2u);
  const auto& worker = back->trace->workers[1];
  EXPECT_EQ(worker.left_out, 3u);
  ASSERT_EQ(worker.spans.size(), 2u);
  EXPECT_EQ(worker.spans[0].begin, 1'000'500u);
  EXPECT_EQ(worker.spans[0].end, 1'002'000u);
  EXPECT_EQ(worker.spans[0].made, 900'000u);
  EXPECT_EQ(worker.spans[0].node, 3u);
  EXPECT_STREQ(worker.spans[0].name, "force");
  EXPECT_EQ(worker.spans[1].name, nullptr);
  EXPECT_EQ(worker.spans[1].what, trace::activity::join);
  EXPECT_TRUE(worker.spans[1].found);
  EXPECT_DOUBLE_EQ(back->trace->at(1'002'000), 18.5);
  EXPECT_DOUBLE_EQ(back->trace->at(900'000), -32.5) << "before the recording began";
}

TEST(report, that_is_malformed_is_nothing) {
  const bytes whole = net::encode(sample());
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(net::decode_report(std::span(whole).first(n))) << n;
  bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(net::decode_report(longer));
  bytes unknown = whole;
  unknown.back() = std::byte{0x7e};
  EXPECT_FALSE(net::decode_report(unknown));
}

/// The shortest of several readings tells most: the others waited somewhere.
TEST(report, clocks_are_compared_by_the_quickest_answer) {
  net::clock_offset c;
  c.improve(1000, 5000 + 1900, 2000);  // 900 us late on the way there
  c.improve(3000, 5000 + 3005, 3010);
  c.improve(4000, 5000 + 4001, 4100);
  EXPECT_DOUBLE_EQ(c.us, 5000);
  EXPECT_DOUBLE_EQ(c.error_us, 5);
}

}  // namespace
