// What one member of a team has, all have: of any size, from any member, along any tree.
#include "node/team_of.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "sanitized.hpp"

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 1, 0us}, shape{2, 1, 0us}, shape{3, 1, 200us},
                                         shape{5, 2, 0us}, shape{16, 1, 0us}),
                         shape_name);

std::vector<std::uint32_t> numbers(std::size_t n, unsigned root) {
  std::vector<std::uint32_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::uint32_t>(mix(i + root));
  return all;
}

/// Every so many members are the root once.
unsigned roots_apart(unsigned size) { return sanitized ? 1 + size / 4 : 1; }

struct broadcasts_all {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  int run(team& all) const {
    int right = 0;
    for (unsigned root = 0; root < all.size(); root += roots_apart(all.size())) {
      // 128 KiB are a part.
      for (const std::size_t n : {0U, 1U, 1'000U, 32'765U, 32'767U, 32'768U, 100'000U}) {
        const auto mine = all.rank() == root ? numbers(n, root) : numbers(3, all.rank());
        right += all.broadcast(mine, root) == numbers(n, root) ? 1 : 0;
      }
    }
    noted.add(all.rank(), std::to_string(right));
    return right;
  }
};

TEST_P(team_of, all_have_what_one_has) {
  const unsigned roots = (size + roots_apart(size) - 1) / roots_apart(size), right = 7 * roots;
  EXPECT_EQ(j.root().run_on_all(broadcasts_all{}), static_cast<int>(right));
  for (const auto& [rank, lines] : noted.all())
    EXPECT_EQ(lines, std::vector<std::string>{std::to_string(right)}) << rank;
  EXPECT_EQ(noted.all().size(), size);
}

struct between_graphs {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  int run(team& all) const {
    int sum = 0;
    for (int i = 0; i < 5; ++i) {
      sum += all.broadcast(static_cast<int>(all.rank()) + i, all.size() - 1);
      team_graph g(all);
      auto x = g.make(i);
      g.run([](int& v) { v *= 2; }, inout(x), on(all.size() - 1));
      g.bring(x);
      EXPECT_TRUE(g.wait());
    }
    return sum;
  }
};

TEST_P(team_of, broadcasts_between_graphs) {
  EXPECT_EQ(j.root().run_on_all(between_graphs{}), static_cast<int>(5 * (size - 1) + 10));
}

struct from_nobody {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const { all.broadcast(1, all.size()); }
};

TEST_P(team_of, there_is_no_such_member) {
  EXPECT_THROW(j.root().run_on_all(from_nobody{}), std::invalid_argument);
}

struct ends_without_it {
  unsigned who = 0;
  auto input() { return std::tie(who); }
  void run(team& all) const {
    if (all.rank() != who) all.broadcast(1, who);
  }
};

TEST_P(team_of, nobody_waits_for_who_has_ended) {
  if (size == 1) return;
  EXPECT_THROW(j.root().run_on_all(ends_without_it{size - 1}), std::logic_error);
}

struct fails_before {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    if (all.rank() == 0) throw std::domain_error("before");
    all.broadcast(1, 0);
  }
};

TEST_P(team_of, an_error_ends_those_that_wait) {
  EXPECT_THROW(j.root().run_on_all(fails_before{}), std::domain_error);
}

}  // namespace
}  // namespace cleave::tests
