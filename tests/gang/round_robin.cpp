#include "gang/round_robin.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace {

using gang::job_id;
using gang::node_set;
using gang::round_robin;
using gang::state;
using jobs = std::vector<job_id>;

const node_set one_node{"a"};

TEST(round_robin, go_round) {
  round_robin t;
  EXPECT_EQ(t.running(), jobs());
  for (const char* job : {"1", "2", "3"}) t.place(job, one_node);
  jobs order;
  for (int i = 0; i < 6; ++i, t.next()) order.push_back(t.running().at(0));
  EXPECT_EQ(order, (jobs{"1", "2", "3", "1", "2", "3"}));
}

TEST(round_robin, a_paused_job_gives_its_turn_away) {
  round_robin t;
  t.place("1", one_node), t.place("2", one_node);
  EXPECT_TRUE(t.pause("1"));
  EXPECT_FALSE(t.pause("1"));
  EXPECT_EQ(t.of("1"), state::paused);
  EXPECT_EQ(t.running(), jobs{"2"});
  EXPECT_FALSE(t.contended());
  EXPECT_TRUE(t.pause("2"));
  EXPECT_EQ(t.running(), jobs());
  EXPECT_TRUE(t.resume("1"));
  EXPECT_FALSE(t.resume("1"));
  EXPECT_EQ(t.of("1"), state::running);
}

TEST(round_robin, whoever_leaves_gives_its_turn_away) {
  round_robin t;
  t.place("1", one_node), t.place("2", one_node), t.place("3", one_node);
  t.remove("1");
  EXPECT_EQ(t.running(), jobs{"2"});
  t.pause("3"), t.remove("3"), t.remove("2");
  EXPECT_EQ(t.running(), jobs());
}

TEST(round_robin, jobs_on_different_nodes_share_one) {
  round_robin t;
  t.place("both", {"a", "b"}), t.place("left", {"a"}), t.place("right", {"b"});
  EXPECT_EQ(t.running(), jobs{"both"});
  t.next();
  EXPECT_EQ(t.running(), (jobs{"left", "right"}));
  t.next();
  EXPECT_EQ(t.running(), jobs{"both"});
  t.pause("both");
  EXPECT_EQ(t.running(), (jobs{"left", "right"}));
  EXPECT_FALSE(t.contended());
  t.place("left", {"a", "b"});  // it has grown
  EXPECT_EQ(t.running(), jobs{"left"});
  EXPECT_TRUE(t.contended());
}

// Whatever happens: nobody who could run waits, no node has two, and everybody's turn comes.
TEST(round_robin, hold_in_any_order) {
  std::mt19937 random(7);
  round_robin t;
  std::map<job_id, bool> paused;  // of each job that is there
  std::map<job_id, node_set> where;
  for (int i = 0; i < 20'000; ++i) {
    const job_id job = std::to_string(random() % 8);
    const int what = static_cast<int>(random() % 4);
    const bool there = paused.count(job) != 0;
    if (what == 0) {
      where[job].clear();
      for (const char* node : {"a", "b", "c"})
        if (random() % 2 == 0) where[job].insert(node);
      if (where[job].empty()) where[job] = {"a"};
      t.place(job, where[job]);
      if (!there) paused[job] = false;
    } else if (what == 1 && random() % 4 == 0) {
      t.remove(job);
      paused.erase(job);
    } else if (what >= 2 && there) {
      EXPECT_EQ(what == 2 ? t.pause(job) : t.resume(job), paused[job] == (what == 3));
      paused[job] = what == 2;
    }
    std::set<job_id> ready, ran;
    for (const auto& [id, is] : paused) {
      if (!is) ready.insert(id);
      EXPECT_EQ(t.of(id) == state::paused, is);
    }
    EXPECT_EQ(t.jobs().size(), paused.size());
    EXPECT_EQ(t.contended(), ready.size() > t.running().size());
    for (std::size_t k = 0; k < ready.size(); ++k, t.next()) {
      node_set taken;
      std::size_t nodes = 0;
      for (const job_id& id : t.running()) {
        ran.insert(id);
        taken.insert(where[id].begin(), where[id].end());
        nodes += where[id].size();
      }
      EXPECT_EQ(taken.size(), nodes);
      for (const job_id& id : ready) {
        const auto is_taken = [&](const auto& node) { return taken.count(node) != 0; };
        const bool could_run = std::none_of(where[id].begin(), where[id].end(), is_taken);
        EXPECT_FALSE(could_run && t.of(id) == state::waiting);
      }
    }
    EXPECT_EQ(ran, ready);
  }
}

}  // namespace
