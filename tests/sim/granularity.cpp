// How long subtasks must be over many ranks: it follows from the costs, and where each rank makes
// only what concerns it, hardly from the number of ranks.
#include "sim/granularity.hpp"

#include <gtest/gtest.h>

namespace sim {
namespace {

granularity_run of(unsigned ranks, bool mine = true) {
  granularity_run run;
  run.ranks = ranks, run.mine = mine, run.steps = 30;
  return run;
}

TEST(granularity, one_rank_has_no_messages) {
  granularity_run run = of(1);
  run.spread = 0;
  // Half of the time is overhead.
  EXPECT_NEAR(least_granularity(run), 2 * run.costs.subtask, 0.05 * run.costs.subtask);
  run.costs.subtask *= 10;
  EXPECT_NEAR(least_granularity(run), 2 * run.costs.subtask, 0.05 * run.costs.subtask);
}

TEST(granularity, messages_count) {
  granularity_run run = of(2);
  const double as_measured = least_granularity(run);
  EXPECT_GT(as_measured, 2 * (run.costs.subtask + run.costs.foreign / 8));
  run.costs.receiving *= 4;
  EXPECT_GT(least_granularity(run), 1.5 * as_measured);
}

TEST(granularity, hardly_grows_with_ranks_where_each_makes_its_own) {
  const double four = least_granularity(of(4));
  EXPECT_LE(least_granularity(of(64)), 1.05 * four);
  EXPECT_LE(four, 2 * least_granularity(of(2))) << "inner ranks have two neighbours";
  EXPECT_GT(least_granularity(of(64, false)), 3 * four);
}

}  // namespace
}  // namespace sim
