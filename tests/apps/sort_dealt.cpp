// Numbers that are dealt to nodes and merged two by two are all there, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cleave/runtime.hpp>
#include <cstdint>
#include <vector>

#include "sort/dealt.hpp"
#include "sort/problem.hpp"
#include "sort/trial.hpp"

namespace {

using namespace apps::sort;

TEST(sort_dealt, shares_are_the_whole) {
  const auto values = random_values(1'000);
  for (const int nodes : {1, 3, 7, 1'000, 1'500}) {
    std::vector<std::uint32_t> together;
    for (int k = 0; k < nodes; k++) {
      const auto p = dealt::share(values, k, nodes);
      EXPECT_LE(p.values.size(), values.size() / static_cast<std::size_t>(nodes) + 1);
      together.insert(together.end(), p.values.begin(), p.values.end());
    }
    EXPECT_EQ(together, values) << nodes;
  }
}

TEST(sort_dealt, a_merge_has_both_and_the_longer_time) {
  dealt::part a{{1, 4, 9}, 2, 5}, b{{2, 4}, 3, 1};
  dealt::merge(a, b);
  EXPECT_EQ(a.values, (std::vector<std::uint32_t>{1, 2, 4, 4, 9}));
  EXPECT_EQ(a.sorting, 3);
  EXPECT_GE(a.merging, 5);
  EXPECT_LT(a.merging, 6);
}

TEST(sort_dealt, all_numbers_are_sorted_whoever_has_them) {
  for (const int workers : {1, 2, 8}) {
    cleave::runtime rt(cleave::options{.workers = workers});
    for (const int n : {1, 2, 10'000})
      for (const int nodes : {1, 2, 3, 8, 13})
        EXPECT_EQ(trial_of_dealing(n, nodes)(&rt).found.wrong, "") << n << " to " << nodes;
  }
}

}  // namespace
