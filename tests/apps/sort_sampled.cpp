// Numbers that stay on their nodes are all there, in order within each part and from part to part.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "node/team_of.hpp"
#include "sort/problem.hpp"
#include "sort/sampled.hpp"
#include "sort/trial.hpp"

namespace cleave::tests {
namespace {

using namespace apps::sort;
using sampled::numbers;

TEST(sort_sampled, shares_are_the_whole) {
  const numbers all = random_values(1'000);
  for (const int nodes : {1, 3, 7, 64}) {
    numbers together;
    for (int k = 0; k < nodes; k++) {
      const numbers own = sampled::own_share(1'000, k, nodes);
      together.insert(together.end(), own.begin(), own.end());
    }
    EXPECT_EQ(together, all) << nodes;
  }
}

TEST(sort_sampled, ranges_are_as_large_in_the_sample) {
  numbers sample(100);
  for (std::uint32_t i = 0; i < 100; i++) sample[99 - i] = 10 * i;
  EXPECT_EQ(sampled::splitters_of(sample, 4), (numbers{250, 500, 750}));
  EXPECT_TRUE(sampled::splitters_of(sample, 1).empty());
  EXPECT_TRUE(sampled::splitters_of({}, 4).empty());
}

// By comparing with each, and by halving.
TEST(sort_sampled, a_number_belongs_to_the_range_that_begins_before_it) {
  for (const std::uint32_t ranges : {2, 17, 18, 64}) {
    numbers splitters;
    for (std::uint32_t r = 1; r < ranges; r++) splitters.push_back(10 * r);
    for (std::uint32_t v = 0; v < 10 * ranges; v++)
      ASSERT_EQ(sampled::range_of(v, splitters), v / 10) << ranges;
  }
  EXPECT_EQ(sampled::range_of(5, {5, 5, 6}), 2u);
}

TEST(sort_sampled, what_is_dealt_is_all_there) {
  const numbers values = random_values(10'000), splitters{1U << 30, 3U << 30};
  std::vector<numbers> to(3);
  sampled::deal(values, splitters, to);
  numbers joined;
  sampled::join_and_sort(to, joined);
  numbers expected = values;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(joined, expected);
  for (std::size_t r = 0; r < 3; r++)
    for (const std::uint32_t v : to[r]) ASSERT_EQ(sampled::range_of(v, splitters), r);
}

TEST(sort_sampled, finds_the_middle) {
  const auto with = [](std::vector<std::uint64_t> counts) {
    std::vector<sampled::summary> parts;
    for (const auto n : counts) parts.push_back({n});
    return parts;
  };
  using place = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(sampled::place_of(5, with({3, 0, 2, 6})), place(3, 0));
  EXPECT_EQ(sampled::place_of(2, with({3, 0, 2, 6})), place(0, 2));
  EXPECT_EQ(sampled::place_of(3, with({3, 0, 2, 6})), place(2, 0));
}

TEST(sort_sampled, what_is_wrong_is_found) {
  const auto found = [](std::vector<numbers> before, std::vector<numbers> after) {
    sampled::findings f;
    for (const auto& values : before) f.before.push_back(sampled::summary_of({values}));
    for (const auto& values : after) f.after.push_back(sampled::summary_of({values}));
    return sampled::wrong_with(f);
  };
  EXPECT_EQ(found({{3, 1}, {2, 2}}, {{1, 2}, {}, {2, 3}}), "");
  EXPECT_NE(found({{3, 1}, {2, 2}}, {{2, 1}, {2, 3}}), "");  // not in order
  EXPECT_NE(found({{3, 1}, {2, 2}}, {{1, 3}, {2, 2}}), "");  // nor from part to part
  EXPECT_NE(found({{3, 1}, {2, 2}}, {{1, 3}, {}, {2, 2}}), "");
  EXPECT_NE(found({{3, 1}, {2, 2}}, {{1, 2}, {2, 4}}), "");  // another number
  EXPECT_NE(found({{3, 1}, {2, 2}}, {{1, 2}, {2}}), "");     // one is missing
}

struct sorts {
  std::uint64_t n = 0;
  int nodes = 1;
  auto input() { return std::tie(n, nodes); }
  sampled::findings run(team& all) const {
    sampled::sorter s(n, nodes, all);
    s.sort();
    return s.look();
  }
};

INSTANTIATE_TEST_SUITE_P(sort_sampled, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{3, 2, 200us},
                                         shape{7, 1, 50us}),
                         shape_name);

TEST_P(team_of, sorts_by_samples) {
  for (const std::uint64_t n : {1U, 2U, 100'000U})
    for (const int nodes : {1, 2, 7, 13}) {
      const auto found = j.root().run_on_all(sorts{n, nodes});
      EXPECT_EQ(sampled::wrong_with(found), "") << n << " by " << nodes;
      ASSERT_EQ(found.before.size(), static_cast<std::size_t>(nodes));
      ASSERT_EQ(found.after.size(), static_cast<std::size_t>(nodes));
      numbers all = random_values(n);
      std::sort(all.begin(), all.end());
      EXPECT_EQ(found.middle, all[n / 2]);
      std::uint64_t most = 0;
      for (const auto& s : found.after) most = std::max(most, s.count);
      EXPECT_LT(most * static_cast<unsigned>(nodes), n == 100'000 ? 2 * n : 100);
    }
}

TEST(sort_sampled, by_the_workers_of_one_node) {
  for (const int workers : {1, 8}) {
    cleave::runtime rt(cleave::options{.workers = workers});
    EXPECT_EQ(trial_of_sampling(10'000, 3)(&rt).found.wrong, "");
  }
  EXPECT_EQ(trial_of_sampling(10'000, 3)(nullptr).found.wrong, "");
}

}  // namespace
}  // namespace cleave::tests
