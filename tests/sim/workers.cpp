// labels: once
// The workers of one simulated node: every node of a tree is visited once (run_workers() throws
// otherwise), whatever is given, run meanwhile and asked; and what real workers give is better than
// halves where a tree is very uneven.
#include "sim/workers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

constexpr sim::gift gifts[] = {sim::gift::half, sim::gift::rest, sim::gift::loops};
constexpr sim::meanwhile meanwhiles[] = {sim::meanwhile::descendants, sim::meanwhile::deeper,
                                         sim::meanwhile::leave};
constexpr sim::victim victims[] = {sim::victim::runner, sim::victim::chain, sim::victim::largest};

/// Runs the tree in every way, with `how` as it is otherwise.
template <class Expect>
void in_every_way(const sim::tree& work, sim::workers_run how, Expect expect) {
  for (const auto gives : gifts) {
    for (const auto waits : meanwhiles) {
      for (const auto asks : victims) {
        how.gives = gives, how.waits = waits, how.asks = asks;
        SCOPED_TRACE(testing::Message()
                     << sim::gift_names[static_cast<int>(gives)] << ' '
                     << sim::meanwhile_names[static_cast<int>(waits)] << ' '
                     << sim::victim_names[static_cast<int>(asks)] << ' ' << how.workers);
        expect(sim::run_workers(work, how));
      }
    }
  }
}

TEST(workers, visit_every_node_once_whatever_they_do) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const sim::tree work = sim::random_tree(seed, 3'000, false);
    for (const unsigned n : {1U, 2U, 3U, 16U, 65U}) {
      sim::workers_run how{.workers = n, .seed = seed};
      how.further_in = seed % 3 == 0 ? 0 : 1;
      in_every_way(work, how, [&](const sim::workers_result& r) {
        EXPECT_EQ(r.visited, work.nodes());
        EXPECT_LE(r.speedup, n * (1 + 1e-9));
        EXPECT_LE(r.computing + r.answering + r.waiting + r.idle, 1 + 1e-9);
      });
    }
  }
}

TEST(workers, end_where_messages_take_longer_than_work) {
  const sim::tree work = sim::binomial_tree(300, 0.19, 5, 7);
  sim::workers_run how{.workers = 16};
  for (const std::int64_t line : {0, 1'000, 30'000}) {
    how.costs.line = line;
    in_every_way(work, how,
                 [&](const sim::workers_result& r) { EXPECT_EQ(r.visited, work.nodes()); });
  }
}

TEST(workers, take_as_long_as_the_program_if_there_is_one) {
  const sim::tree work = sim::uts_tree(6, 19);
  const auto r = sim::run_workers(work, {.workers = 1});
  EXPECT_DOUBLE_EQ(r.speedup, 1);
  EXPECT_EQ(r.parts, 0U);
  EXPECT_EQ(r.deepest, work.height);
}

/// A worker's stack holds descendants of what it waits for only: it is no longer than the longest
/// path, but for a loop at each level that was split again.
TEST(workers, need_no_longer_stacks_than_the_program) {
  const sim::tree work = sim::binomial_tree(300, 0.199, 5, 7);
  for (const auto gives : gifts) {
    const auto r = sim::run_workers(work, {.workers = 16, .gives = gives});
    EXPECT_GT(r.parts, 100U);
    EXPECT_LE(r.deepest, work.height + work.repeats);
    EXPECT_EQ(r.stacks, 16U);
  }
}

TEST(workers, share_a_very_uneven_tree_better_by_giving_all_that_remains_of_a_loop) {
  const sim::tree work = sim::binomial_tree(2'000, 0.124, 8, 42);
  const auto halves = sim::run_workers(
      work,
      {.workers = 16, .gives = sim::gift::half, .further_in_for_waiting = 0, .further_in = 0});
  const auto rests = sim::run_workers(work, {.workers = 16});
  EXPECT_LT(rests.parts, halves.parts / 2);
  EXPECT_GT(rests.speedup, 1.2 * halves.speedup);
}

/// The one that is asked first often has nothing to give, where others have.
TEST(workers, that_soon_ask_all_are_faster_where_a_tree_is_very_uneven) {
  const sim::tree work = sim::uts_tree("T3");
  double soon = 0, late = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    sim::workers_run how{.workers = 64, .seed = seed};
    soon += sim::run_workers(work, how).seconds;
    how.costs.all_after = how.costs.press;
    late += sim::run_workers(work, how).seconds;
  }
  EXPECT_LT(soon, 0.97 * late);
}

TEST(workers, do_the_same_for_the_same_seed) {
  const sim::tree work = sim::binomial_tree(300, 0.19, 5, 7);
  const sim::workers_run how{.workers = 7, .seed = 3};
  const auto a = sim::run_workers(work, how), b = sim::run_workers(work, how);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.parts, b.parts);
}

TEST(trees, of_uts_have_their_names) {
  EXPECT_EQ(sim::uts_tree("T3").nodes(), 4'112'897U);
  EXPECT_THROW(sim::uts_tree("T4"), std::invalid_argument);
}

}  // namespace
