// Columns of the first row dealt to nodes: each has as many solutions as the paper's tables say,
// and each is searched once.
#include <gtest/gtest.h>

#include <cleave/runtime.hpp>
#include <cstdint>
#include <variant>
#include <vector>

#include "queens/dealt.hpp"
#include "queens/trial.hpp"

namespace {

using namespace apps::queens;

std::vector<std::int64_t> solutions(const dealt::findings& found) {
  std::vector<std::int64_t> all;
  for (const dealt::column& c : found.columns) all.push_back(c.solutions);
  return all;
}

// A half of the columns; the others are their mirror images.
void expect_columns(const std::vector<std::int64_t>& found, std::vector<std::int64_t> half) {
  half.insert(half.end(), half.rbegin(), half.rend());
  EXPECT_EQ(found, half);
}

TEST(queens_dealt, columns_have_the_papers_solutions) {
  expect_columns(solutions(dealt::search_all(14)),
                 {11892, 16488, 23024, 27494, 32163, 34760, 36977});
}

TEST(queens_dealt, all_columns_are_searched_whoever_has_them) {
  for (const int workers : {1, 2, 8}) {
    cleave::runtime rt(cleave::options{.workers = workers});
    for (const int nodes : {1, 3, 10, 12}) {
      const auto out = trial_of_dealing(10, nodes)(&rt);
      EXPECT_TRUE(out.found.wrong.empty());
      EXPECT_EQ(std::get<std::int64_t>(out.found.main), 724);
      expect_columns(std::get<std::vector<std::int64_t>>(out.found.more[1].second),
                     {64, 48, 65, 93, 92});
    }
  }
}

TEST(queens_dealt, the_busiest_node_bounds_the_speedup) {
  dealt::findings found;
  for (const double seconds : {1.0, 2.0, 3.0, 4.0}) found.columns.push_back({1, seconds});
  EXPECT_DOUBLE_EQ(found.speedup(1), 1);
  EXPECT_DOUBLE_EQ(found.speedup(2), 10.0 / 6);
  EXPECT_DOUBLE_EQ(found.speedup(4), 2.5);
  EXPECT_DOUBLE_EQ(found.speedup(9), 2.5);
}

}  // namespace
