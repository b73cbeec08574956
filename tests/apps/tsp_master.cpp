// A master and slaves find what one searcher does, on one node and on several, and slaves tell the
// master as often as they are told to.
#include "node/team_of.hpp"

#include <set>
#include <tuple>

#include "tsp/collect.hpp"
#include "tsp/generators.hpp"
#include "tsp/master.hpp"
#include "tsp/report.hpp"

namespace cleave::tests {
namespace {

using namespace apps::tsp;

constexpr sending rules[] = {sending::one, sending::part, sending::halving, sending::doubling,
                             sending::remaining};

// What a slave tells by itself, where the master finds nothing.
struct one_slave {
  wanted_tours wanted;
  sharing how;
  auto input() { return std::tie(wanted, how); }
  std::int64_t run(team& all) const {
    const instance cities = grid(6);
    parallel::master_node node(wanted, how, all);
    const auto own = parallel::search_for_master(cities, wanted, how, 1, node);
    EXPECT_EQ(node.missing(), 0);
    const collected found = node.end(own);
    EXPECT_EQ(report(cities, wanted, found).wrong, "");
    // The last order, to the one other searcher, is a message, too.
    const std::int64_t orders =
        how.when == sending::remaining ? found.told.messages - own.told.sent : how.searchers - 1;
    EXPECT_EQ(found.told.messages, own.told.sent + orders);
    EXPECT_EQ(found.told.bytes, 4 * orders + 12 * 36 * 2);
    return found.told.sent;
  }
};

TEST(tours, a_slave_tells_the_master_by_its_rule) {
  const wanted_tours wanted{12, shortest_of_grid(6), 50'000, false, 1, 4000};
  cleave::runtime runtime(cleave::options{.workers = 1});
  const auto times = [&](sending when, int searchers) {
    return runtime.run_on_all(one_slave{wanted, {when, searchers}});
  };
  EXPECT_EQ(times(sending::one, 2), 12);
  EXPECT_EQ(times(sending::part, 2), 2);       // 6, 6
  EXPECT_EQ(times(sending::part, 4), 4);       // 3, 3, 3, 3
  EXPECT_EQ(times(sending::halving, 2), 5);    // 6, 3, 1, 1, 1
  EXPECT_EQ(times(sending::remaining, 2), 5);  // 6 of 12, 3 of 6, 1 of 3, 1 of 2, 1
  EXPECT_EQ(times(sending::remaining, 4), 9);  // 3 of 12, 2 of 9, 1 of 7, …
}

struct collects {
  int side = 0;
  wanted_tours wanted;
  sharing how;
  auto input() { return std::tie(side, wanted, how); }
  collected run(team& all) const {
    return parallel::collect_by_master(grid(side), wanted, how, all);
  }
};

INSTANTIATE_TEST_SUITE_P(tours, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{3, 2, 200us},
                                         shape{7, 1, 50us}),
                         shape_name);

TEST_P(team_of, collects_by_a_master) {
  const wanted_tours none_too_many{7, shortest_of_grid(4), 1000, false, 3, 300};
  const collected expected = apps::tsp::sequential::collect(grid(4), none_too_many);
  const wanted_tours some{20, shortest_of_grid(6), 20'000, false, 1, 20'000};
  const int searchers = static_cast<int>(GetParam().nodes * GetParam().workers);
  for (const sending when : rules) {
    const collected all = j.root().run_on_all(collects{4, none_too_many, {when, searchers}});
    EXPECT_EQ(all.tours, expected.tours);
    EXPECT_EQ(all.runs.runs(), 300);
    EXPECT_EQ(all.runs.failed, expected.runs.failed);
    // What is new to the master, whoever has found it.
    EXPECT_EQ(all.runs.found, 6);
    const collected found = j.root().run_on_all(collects{6, some, {when, searchers}});
    EXPECT_EQ(report(grid(6), some, found).wrong, "");
    EXPECT_EQ(found.tours.size(), 20u);
    EXPECT_GE(found.runs.found, 20);
    EXPECT_LT(found.runs.runs(), 10'000);  // slaves are told to end
    EXPECT_EQ(found.searchers, searchers);
    EXPECT_GE(found.told.messages, found.told.sent + searchers - 1);
  }
}

}  // namespace
}  // namespace cleave::tests
