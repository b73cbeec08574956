#include "gang/turns.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace {

using gang::state;
using gang::turns;

TEST(turns, go_round) {
  turns t;
  EXPECT_FALSE(t.running());
  for (const int job : {1, 2, 3}) t.add(job);
  std::vector<int> order;
  for (int i = 0; i < 6; ++i, t.next()) order.push_back(t.running().value());
  EXPECT_EQ(order, (std::vector{1, 2, 3, 1, 2, 3}));
}

TEST(turns, a_paused_job_gives_its_turn_away) {
  turns t;
  t.add(1), t.add(2);
  EXPECT_TRUE(t.pause(1));
  EXPECT_FALSE(t.pause(1));
  EXPECT_EQ(t.of(1), state::paused);
  EXPECT_EQ(t.running(), 2);
  EXPECT_FALSE(t.contended());
  EXPECT_TRUE(t.pause(2));
  EXPECT_FALSE(t.running());
  EXPECT_TRUE(t.resume(1));
  EXPECT_FALSE(t.resume(1));
  EXPECT_EQ(t.of(1), state::running);
}

TEST(turns, whoever_leaves_gives_its_turn_away) {
  turns t;
  t.add(1), t.add(2), t.add(3);
  t.remove(1);
  EXPECT_EQ(t.running(), 2);
  t.pause(3), t.remove(3), t.remove(2);
  EXPECT_FALSE(t.running());
}

// Whatever happens, one job runs if any is not paused, and all of those get their turn.
TEST(turns, hold_in_any_order) {
  std::mt19937 random(7);
  turns t;
  std::map<int, bool> paused;  // of each job that is there
  for (int i = 0; i < 20'000; ++i) {
    const int job = static_cast<int>(random() % 8), what = static_cast<int>(random() % 4);
    const bool there = paused.count(job) != 0;
    if (what == 0 && !there) {
      t.add(job);
      paused[job] = false;
    } else if (what == 1 && random() % 4 == 0) {
      t.remove(job);
      paused.erase(job);
    } else if (what >= 2 && there) {
      EXPECT_EQ(what == 2 ? t.pause(job) : t.resume(job), paused[job] == (what == 3));
      paused[job] = what == 2;
    }
    std::set<int> ready, ran;
    for (const auto& [id, is] : paused) {
      if (!is) ready.insert(id);
      EXPECT_EQ(t.of(id) == state::paused, is);
    }
    EXPECT_EQ(t.running().has_value(), !ready.empty());
    EXPECT_EQ(t.contended(), ready.size() > 1);
    for (std::size_t k = 0; k < ready.size(); ++k, t.next()) ran.insert(t.running().value());
    EXPECT_EQ(ran, ready);
  }
}

}  // namespace
