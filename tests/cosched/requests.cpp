#include "cosched/requests.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using namespace cleave::cosched;
using kind = requests::kind;

TEST(requests, receives_only) {
  requests r;
  EXPECT_TRUE(r.only_receives());
  r.started(7, kind::receive);
  EXPECT_TRUE(r.only_receives());
  EXPECT_EQ(r.of(7), kind::receive);
  r.started(8, kind::other);
  EXPECT_FALSE(r.only_receives());
  r.completed(8);
  EXPECT_TRUE(r.only_receives());
  EXPECT_EQ(r.of(8), kind::none);
}

TEST(requests, what_was_started_last_counts) {
  requests r;
  r.started(7, kind::receive), r.started(7, kind::other);
  EXPECT_FALSE(r.only_receives());
  r.started(7, kind::receive);
  EXPECT_TRUE(r.only_receives());
  r.completed(9);  // nobody knows it
  EXPECT_EQ(r.of(7), kind::receive);
}

// Too many at once: from then on nothing is known, and that is safe.
TEST(requests, too_many) {
  requests r;
  for (requests::handle h = 0; h < 1'000; ++h) r.started(h, kind::receive);
  EXPECT_FALSE(r.only_receives());
  for (requests::handle h = 0; h < 1'000; ++h) EXPECT_EQ(r.of(h), kind::none);
  r.completed(5);
  EXPECT_FALSE(r.only_receives());
}

TEST(requests, as_a_map) {
  requests r;
  std::map<requests::handle, kind> expected;
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const requests::handle h = random() % 300 * 64;  // as addresses are
    if (expected.size() < 200 && random() % 2 != 0) {
      const kind k = random() % 2 != 0 ? kind::receive : kind::other;
      r.started(h, k), expected[h] = k;
    } else {
      r.completed(h), expected.erase(h);
    }
    const requests::handle asked = random() % 300 * 64;
    const auto found = expected.find(asked);
    ASSERT_EQ(r.of(asked), found == expected.end() ? kind::none : found->second);
    bool others = false;
    for (const auto& [_, k] : expected) others = others || k == kind::other;
    ASSERT_EQ(r.only_receives(), !others);
  }
}

}  // namespace
