// labels: once
// The trees of the Tascell paper's programs: where nothing has to be put together they are the
// programs' own, and a subtree's size is that of what is in it.
#include "sim/programs.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

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

TEST(Programs, QueensAreTheSearchsBoards) {
  for (const unsigned n : {4U, 8U, 12U}) {
    const sim::tree t = sim::queens_program(n);
    expect_nested(t);
    EXPECT_EQ(t.nodes(), sim::queens_tree(n).nodes()) << n;
  }
  EXPECT_EQ(sim::queens_program(8).size, sim::queens_tree(8).size);
  EXPECT_EQ(sim::queens_program(8).height, sim::queens_tree(8).height);
  EXPECT_EQ(sim::queens_program(8).repeats, sim::queens_tree(8).repeats);
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

TEST(Programs, PentominoHasANodeForEachPlacement) {
  const cleave::tests::temporary_folder folder;
  const std::string file = (folder.path / "board.txt").string();
  std::ofstream(file) << "board\n....\n\npiece D x2\nOO\n";
  const sim::tree t = sim::pentomino_tree(file);  // nothing, one domino, two
  expect_nested(t);
  EXPECT_EQ(t.nodes(), 3U);
  EXPECT_THROW(sim::pentomino_tree((folder.path / "none.txt").string()), apps::input_error);
}

}  // namespace
