// labels: once
// A tree shared by simulated nodes that nothing happens to: every node of it is visited once
// (run_scale throws otherwise), and the workers compute nearly all of the time.
#include "sim/scale.hpp"

#include <gtest/gtest.h>

#include <iterator>

namespace {

/// 400 us for each node of the tree.
sim::scale_result share(const sim::tree& work, sim::layout::kind sites, unsigned workers,
                        sim::asking whom, std::uint64_t seed = 1) {
  return sim::run_scale(work, {{sites, workers}, whom, sim::instant(400), seed});
}

}  // namespace

TEST(Scale, ASmallTreeIsSharedByWhomeverTheyAsk) {
  const sim::tree work = sim::uts_tree(8, 19);
  for (std::size_t whom = 0; whom < std::size(sim::asking_names); ++whom) {
    const auto r = share(work, sim::layout::kind::four, 8, static_cast<sim::asking>(whom));
    EXPECT_GT(r.efficiency, 0.85) << sim::asking_names[whom];
    // More would be work that took no time.
    EXPECT_LT(r.efficiency, 1.0) << sim::asking_names[whom];
    for (const double busy : r.busy) EXPECT_GT(busy, 0.75) << sim::asking_names[whom];
  }
}

TEST(Scale, ManySitesShareALargerOne) {
  const sim::tree work = sim::uts_tree(10, 19);
  const auto r = share(work, sim::layout::kind::many, 128, sim::asking::near_first);
  EXPECT_GT(r.efficiency, 0.80);
  EXPECT_LT(r.efficiency, 0.99);
  EXPECT_EQ(r.busy.size(), 64U);
}

// As tests/nats/churn.sh: four nodes of one worker each, of which all but the root's are killed,
// one each second. 50 s by one worker; 33 s on average while tasks were given without regard to how
// long they take.
TEST(Scale, WorkIsDoneWhileNodesAreKilled) {
  const sim::tree work = sim::queens_tree(12);
  constexpr unsigned seeds = 8;
  double seconds = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    sim::scale_run run{
        {sim::layout::kind::one, 4}, sim::asking::near_first, sim::instant(58), seed};
    run.killed_every = sim::instant(1'000'000);
    run.back_after = sim::instant(600'000);
    run.told_after = sim::instant(700'000);
    seconds += sim::run_scale(work, run).seconds / seeds;
  }
  EXPECT_LT(seconds, 25);
  EXPECT_GT(seconds, 50.0 / 4);
}

TEST(Scale, ARunRepeatsExactly) {
  const sim::tree work = sim::uts_tree(7, 19);
  const auto run = [&](std::uint64_t seed) {
    return share(work, sim::layout::kind::four, 16, sim::asking::near_first, seed);
  };
  const auto a = run(1), b = run(1), other = run(2);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.events, b.events);
  EXPECT_NE(a.events, other.events);
}
