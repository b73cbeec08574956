// sudoku finds what a plain backtracking does, and in parallel what it finds sequentially.
#include <gtest/gtest.h>

#include <algorithm>
#include <cleave/runtime.hpp>
#include <string>
#include <vector>

#include "common/random.hpp"
#include "sanitized.hpp"
#include "sudoku/parse.hpp"
#include "sudoku/report.hpp"
#include "sudoku/sequential.hpp"
#include "sudoku/sudoku.hpp"
#include "sudoku/trial.hpp"

namespace {

using namespace apps::sudoku;

bool may_be(const digits& d, int cell, int digit) {
  for (int other = 0; other < cells; other++) {
    const bool together = cell / 9 == other / 9 || cell % 9 == other % 9 ||
                          (cell / 27 == other / 27 && cell % 9 / 3 == other % 9 / 3);
    if (other != cell && together && d[std::size_t(other)] == digit) return false;
  }
  return true;
}

// Counts the solutions, cell after cell; stops at `most`.
std::uint64_t count_plainly(digits& d, std::uint64_t most, int cell = 0) {
  while (cell < cells && d[std::size_t(cell)] != 0) cell++;
  if (cell == cells) return 1;
  std::uint64_t found = 0;
  for (int digit = 1; digit <= 9 && found < most; digit++) {
    if (!may_be(d, cell, digit)) continue;
    d[std::size_t(cell)] = static_cast<std::uint8_t>(digit);
    found += count_plainly(d, most - found, cell + 1);
    d[std::size_t(cell)] = 0;
  }
  return found;
}

// Puzzles with none, one and many solutions: a full grid, in another order of its digits, of which
// 38 to 49 cells are emptied, and every third time one is changed.
puzzles random_puzzles(int count) {
  apps::random_numbers random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random() % n); };
  puzzles all;
  for (int k = 0; k < count; k++) {
    digits order{0, 1, 2, 3, 4, 5, 6, 7, 8}, d{};
    for (std::size_t i = 8; i > 0; i--) std::swap(order[i], order[below(i + 1)]);
    for (std::size_t i = 0; i < cells; i++)
      d[i] = static_cast<std::uint8_t>(1 + order[(i / 9 * 3 + i / 27 + i % 9) % 9]);
    for (std::size_t n = 38 + below(12); n > 0;) {
      std::uint8_t& cell = d[below(cells)];
      if (cell != 0) cell = 0, n--;
    }
    if (k % 3 == 0) {
      std::size_t i = 0;
      while (d[i] == 0) i++;
      d[i] = static_cast<std::uint8_t>(1 + below(9));
    }
    all.push_back(d);
  }
  return all;
}

puzzles from_file(const std::string& name) {
  return load(CLEAVE_SOURCE_DIR "/apps/sudoku/puzzles/" + name);
}

constexpr question questions[] = {question::first, question::all, question::unique};

TEST(sudoku, counts_as_a_plain_search_does) {
  const puzzles given = random_puzzles(150);
  int none = 0, one = 0, more = 0;
  constexpr std::uint64_t most = 20'000;
  for (const digits& each : given) {
    digits d = each;
    bool contradicts = false;
    for (int i = 0; i < cells; i++)
      contradicts |= each[std::size_t(i)] != 0 && !may_be(each, i, each[std::size_t(i)]);
    const std::uint64_t expected = contradicts ? 0 : count_plainly(d, most);
    if (expected == most) continue;
    (expected == 0 ? none : expected == 1 ? one : more)++;
    EXPECT_EQ(sequential::solve(each, question::all).solutions, expected) << text_of(each);
    EXPECT_EQ(sequential::solve(each, question::unique).solutions,
              std::min<std::uint64_t>(expected, 2))
        << text_of(each);
    const result first = sequential::solve(each, question::first);
    ASSERT_EQ(first.solutions, std::min<std::uint64_t>(expected, 1)) << text_of(each);
    if (expected > 0) { EXPECT_TRUE(is_solution(each, first.first)) << text_of(each); }
  }
  EXPECT_GE(none, 20);
  EXPECT_GE(one, 20);
  EXPECT_GE(more, 20);
}

TEST(sudoku, hard_puzzles_have_one_solution) {
  for (const digits& each : from_file("hard.txt")) {
    EXPECT_EQ(sequential::solve(each, question::all).solutions, 1u) << text_of(each);
    EXPECT_EQ(parallel::solve(each, question::unique).solutions, 1u) << text_of(each);
  }
}

class sudoku_with : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(workers, sudoku_with, testing::Values(1, 2, 4));

// Also the first solution is the sequential one.
TEST_P(sudoku_with, finds_what_the_sequential_search_does) {
  cleave::runtime runtime(cleave::options{.workers = GetParam()});
  std::vector<puzzles> all{random_puzzles(cleave::tests::sanitized ? 10 : 100),
                           from_file("hard.txt")};
  if (!cleave::tests::sanitized) {  // they take long
    all.push_back(from_file("late.txt"));
    all.push_back({from_file("many.txt")[0]});
  }
  for (const puzzles& given : all) {
    const bool countless = given == from_file("late.txt");
    const parallel::published_puzzles published(given);
    for (const question asked : questions) {
      if (countless && asked == question::all) continue;
      const results expected = sequential::solve(given, asked);
      EXPECT_EQ(runtime.run([&] { return parallel::solve(published, asked); }), expected);
      // One puzzle has to be divided itself.
      for (std::size_t k = 0; k < given.size(); k++)
        EXPECT_EQ(runtime.run([&] { return parallel::solve(given[k], asked); }), expected[k])
            << text_of(given[k]);
    }
  }
}

TEST(sudoku, divided_at_every_poll) {
  cleave::runtime runtime(cleave::options{.workers = 2, .check = true});
  const puzzles given = random_puzzles(60);
  for (const question asked : questions) {
    const results expected = sequential::solve(given, asked);
    for (std::size_t k = 0; k < given.size(); k++) {
      if (sequential::solve(given[k], question::all).solutions > 100) continue;
      EXPECT_EQ(runtime.run([&] { return parallel::solve(given[k], asked); }), expected[k])
          << text_of(given[k]);
    }
    EXPECT_GT(runtime.job().splits, 0u);
  }
}

TEST(sudoku, says_what_it_has_found) {
  const auto answer_of = [](const std::string& puzzle, question asked) {
    std::istringstream in(puzzle);
    return trial_of(puzzle_parser(in, "text").parse(), asked)(nullptr).found;
  };
  const std::string solved =
      "123456789456789123789123456214365897365897214897214365531642978642978531978531642";
  std::string open = solved;
  for (const std::size_t i : {0u, 1u, 2u, 40u}) open[i] = '.';
  EXPECT_EQ(answer_of(open, question::first).text, solved);
  EXPECT_EQ(answer_of(open, question::all).text, "1 solution");
  EXPECT_EQ(answer_of(open, question::unique).text, "unique");
  EXPECT_EQ(answer_of(std::string(81, '0'), question::unique).text, "several solutions");
  EXPECT_EQ(answer_of("11" + std::string(79, '.'), question::first).text, "no solution");
  EXPECT_EQ(answer_of("11" + std::string(79, '.'), question::all).text, "0 solutions");
}

// A solution that is none would be told.
TEST(sudoku, checks_solutions) {
  digits d{};
  for (std::size_t i = 0; i < cells; i++)
    d[i] = static_cast<std::uint8_t>(1 + (i / 9 * 3 + i / 27 + i % 9) % 9);
  const digits given = d;
  EXPECT_TRUE(is_solution(given, d));
  EXPECT_EQ(report({given}, question::first, {{1, d}}).wrong, "");
  std::swap(d[0], d[1]);
  EXPECT_FALSE(is_solution(given, d));
  EXPECT_FALSE(is_solution(digits{}, d));
  EXPECT_NE(report({given}, question::first, {{1, d}}).wrong, "");
}

}  // namespace
