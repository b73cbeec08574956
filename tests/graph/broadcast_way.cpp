// How a broadcast goes: every member gets every part once, along the tree that takes least, and
// into each site once.
#include "graph/broadcast_way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace cleave::detail;
using way = broadcast_setting::way;

broadcast_setting of(const char* text) { return read_broadcast_setting("S", text); }

TEST(broadcast_way, every_member_has_one_parent) {
  for (const way is : {way::flat, way::binomial, way::chain, way::binary}) {
    for (unsigned members = 2; members <= 40; ++members) {
      std::vector<int> got(members);
      std::vector<unsigned> reached{0};
      for (std::size_t i = 0; i < reached.size(); ++i) {
        for (const unsigned child : broadcast_way{is, 1}.children(reached[i], members)) {
          ++got[child];
          reached.push_back(child);
        }
      }
      EXPECT_EQ(got[0], 0);
      EXPECT_EQ(std::count(got.begin() + 1, got.end(), 1), members - 1)
          << static_cast<int>(is) << ", " << members << " members";
    }
  }
}

TEST(broadcast_way, largest_subtree_comes_first) {
  EXPECT_EQ((broadcast_way{way::binomial, 1}.children(0, 16)), (std::vector{8U, 4U, 2U, 1U}));
  EXPECT_EQ((broadcast_way{way::binomial, 1}.children(4, 16)), (std::vector{6U, 5U}));
}

TEST(broadcast_way, follows_the_network) {
  const auto is = [](const char* setting, std::size_t bytes, unsigned members) {
    return way_of_broadcast(bytes, members, of(setting)).is;
  };
  EXPECT_EQ(is("auto", 100, 64), way::binomial);
  EXPECT_EQ(is("auto", 64 << 20, 16), way::chain);
  EXPECT_EQ(is("auto", 1 << 20, 1000), way::binary) << "a chain of a thousand is long";
  // Where a message takes long and costs its sender little, one after the other is best.
  EXPECT_EQ(is("auto,10000,2,0.001", 100, 16), way::flat);
  EXPECT_EQ(is("auto,10000,2,0.1", 64 << 20, 16), way::chain);
  EXPECT_EQ(is("binary", 100, 16), way::binary);
  EXPECT_EQ(is("flat", 64 << 20, 16), way::flat);
  // Parts are long where messages cost much.
  EXPECT_LT(way_of_broadcast(8 << 20, 8, of("chain")).part,
            way_of_broadcast(64 << 20, 8, of("auto,1000,500,0.001")).part);
}

// These ways were the fastest, or near it, where 4 to 16 members shared 2 CPUs.
TEST(broadcast_way, follows_the_cpus_that_members_share) {
  const auto is = [](std::size_t bytes, unsigned members, unsigned cpus) {
    return way_of_broadcast(bytes + 8, members, of("auto"), cpus).is;
  };
  EXPECT_EQ(is(4 << 10, 16, 0), way::binomial);
  EXPECT_EQ(is(4 << 10, 16, 16), way::binomial) << "each has a CPU";
  EXPECT_EQ(is(4 << 10, 16, 2), way::flat) << "who passes it on waits for its turn";
  EXPECT_EQ(is(256 << 10, 16, 2), way::flat) << "parts cost CPUs that nobody has";
  EXPECT_EQ(is(1 << 20, 4, 2), way::chain);
  EXPECT_EQ(is(1 << 20, 8, 2), way::binary);
  EXPECT_EQ(is(1 << 20, 16, 2), way::binary) << "a chain has more turns";
  EXPECT_NE(is(1 << 20, 17, 16), way::flat) << "there is nearly one for each";
}

TEST(broadcast_way, goes_into_each_site_once) {
  const std::vector<std::uint64_t> sites{0, 7, 0, 9, 7, 0};
  EXPECT_EQ(order_of_broadcast(0, sites), (std::vector{0U, 2U, 5U, 1U, 4U, 3U}));
  EXPECT_EQ(order_of_broadcast(3, sites), (std::vector{3U, 4U, 1U, 5U, 0U, 2U}));
  EXPECT_EQ(order_of_broadcast(2, std::vector<std::uint64_t>(4)), (std::vector{2U, 3U, 0U, 1U}));
}

TEST(broadcast_way, setting_is_read) {
  EXPECT_EQ(of("auto"), broadcast_setting{});
  const broadcast_setting s = of("auto,1.5,0.25,4e-4");
  EXPECT_EQ(s.is, way::cheapest);
  EXPECT_EQ(s.latency, 1.5);
  EXPECT_EQ(s.overhead, 0.25);
  EXPECT_EQ(s.per_byte, 4e-4);
  for (const char* wrong : {"", "tree", "flat,1,2,3", "auto,1,2", "auto,1,2,3,4", "auto,x,1,1",
                            "auto,-1,1,1", "auto,1,1,nan", "auto,,1,1"}) {
    try {
      of(wrong);
      ADD_FAILURE() << wrong;
    } catch (const std::invalid_argument& e) {
      EXPECT_EQ(std::string(e.what()),
                "S: expected auto[,L,o,G] (microseconds; G of a byte), flat, binomial, chain or "
                "binary, got '" +
                    std::string(wrong) + "'");
    }
  }
}

}  // namespace
