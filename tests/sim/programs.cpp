// labels: once
// The trees of the Tascell paper's programs: where nothing has to be put together they are the
// programs' own, and a subtree's size is that of what is in it.
#include "sim/programs.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/input_error.hpp"
#include "temporary_folder.hpp"

namespace {

/// Whether the subtrees are ranges within each other.
void expect_nested(const sim::tree& t) {
  ASSERT_EQ(t.size.at(0), t.nodes());
  for (std::uint32_t i = 0; i < t.nodes(); ++i) {
    std::uint32_t child = i + 1;
    while (child < i + t.size[i]) child += t.size[child];
    ASSERT_EQ(child, i + t.size[i]) << i;
  }
}

/// Appends the sizes of the subtrees of the board with queens in those columns, and below it.
void append_boards(std::vector<unsigned>& columns, unsigned n, std::vector<std::uint32_t>& sizes) {
  const std::size_t self = sizes.size();
  sizes.push_back(1);
  for (unsigned c = 0; columns.size() < n && c < n; ++c) {
    bool free = true;
    for (std::size_t row = 0; row < columns.size(); ++row) {
      const auto apart = static_cast<unsigned>(columns.size() - row);
      free &= columns[row] != c && columns[row] + apart != c && columns[row] != c + apart;
    }
    if (!free) continue;
    columns.push_back(c);
    append_boards(columns, n, sizes);
    columns.pop_back();
  }
  sizes[self] = static_cast<std::uint32_t>(sizes.size() - self);
}

TEST(Programs, QueensAreTheSearchsBoards) {
  for (const unsigned n : {1U, 4U, 8U, 12U}) {
    const sim::tree t = sim::queens_tree(n);
    expect_nested(t);
    std::vector<unsigned> columns;
    std::vector<std::uint32_t> sizes;
    append_boards(columns, n, sizes);
    EXPECT_EQ(t.size, sizes) << n;
    EXPECT_EQ(t.height, n + 1);
  }
  EXPECT_EQ(sim::queens_tree(8).repeats, 18U);
}

TEST(Programs, FibHasTwoCallsInEach) {
  const sim::tree t = sim::fib_tree(22);
  expect_nested(t);
  std::uint32_t one = 5, two = 8;  // fib(1), fib(2) as pieces
  for (int n = 3; n <= 22; ++n) two = 1 + two + std::exchange(one, two);
  EXPECT_EQ(t.nodes(), two);
  EXPECT_EQ(t.height, 22U);
}

TEST(Programs, GravHasPlanesOfLines) {
  const sim::tree t = sim::grav_tree(10);
  expect_nested(t);
  EXPECT_EQ(t.nodes(), 1U + 21 * (1 + 21));
  EXPECT_EQ(t.height, 3U);
}

TEST(Programs, CompareHalvesDownToPairs) {
  const sim::tree t = sim::compare_tree(100);
  expect_nested(t);
  EXPECT_EQ(t.nodes(), 2U * 100 * 100 - 1);
  EXPECT_EQ(t.height, 15U);
  EXPECT_EQ(sim::compare_bytes(100), 800U);
}

TEST(Programs, PentominoHasANodeForEachPlacement) {
  const cleave::tests::temporary_folder folder;
  const std::string file = (folder.path / "board.txt").string();
  std::ofstream(file) << "board\n....\n\npiece D x2\nOO\n";
  const sim::tree t = sim::pentomino_tree(file);  // nothing, one domino, two
  expect_nested(t);
  EXPECT_EQ(t.nodes(), 3U);
  EXPECT_THROW(sim::pentomino_tree((folder.path / "none.txt").string()), apps::input_error);
}

TEST(Programs, DescentsEstimateHowManyPlacementsThereAre) {
  const cleave::tests::temporary_folder folder;
  const std::string file = (folder.path / "board.txt").string();
  std::ofstream(file) << "board\n.......\n.......\n.......\n.......\n\npiece D x14\nOO\n";
  const double exact = sim::pentomino_tree(file).nodes();
  for (const unsigned descents : {100U, 1'000U}) {
    const sim::tree t = sim::pentomino_tree(file, descents);
    expect_nested(t);
    EXPECT_NEAR(t.nodes() / exact, 1, 0.05) << descents << " descents, " << exact << " nodes";
    EXPECT_NE(t.nodes(), exact);
  }
}

}  // namespace
