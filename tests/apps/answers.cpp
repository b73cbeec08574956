// Every application gives the answer of its plain sequential program, with any number of workers
// and divided at every poll.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cholesky/trial.hpp"
#include "clique/generators.hpp"
#include "clique/report.hpp"
#include "clique/trial.hpp"
#include "compare/compare.hpp"
#include "compare/sequential.hpp"
#include "compare/trial.hpp"
#include "fib/trial.hpp"
#include "gravity/trial.hpp"
#include "lu/trial.hpp"
#include "matmul/trial.hpp"
#include "md/trial.hpp"
#include "pentomino/parse.hpp"
#include "pentomino/trial.hpp"
#include "queens/trial.hpp"
#include "sort/trial.hpp"
#include "uts/sha1.hpp"
#include "uts/tree.hpp"
#include "uts/trial.hpp"

namespace {

void expect_right(const apps::trial& run, bool is_divided = true) {
  EXPECT_EQ(run(nullptr).found.wrong, "") << "sequential";
  for (int workers : {1, 2, 4}) {
    cleave::options o;
    o.workers = workers;
    cleave::runtime runtime(o);
    for (int i = 0; i < 3; i++) EXPECT_EQ(run(&runtime).found.wrong, "") << workers << " workers";
  }
  cleave::options checking;
  checking.check = true;
  cleave::runtime runtime(checking);
  const auto checked = run(&runtime);
  EXPECT_EQ(checked.found.wrong, "") << "divided at every poll";
  EXPECT_EQ(checked.cost.splits > 0, is_divided);
}

// How many nodes they have was found by another program, with the SHA-1 of Python's hashlib.
apps::uts::sample small_tree(apps::uts::kind kind) {
  using namespace apps::uts;
  if (kind == kind::binomial) return {"small", {kind, shape::linear, 0, 100, 0.12, 8, 42}, 981};
  return {"small", {kind, shape::fixed, 5, 4, 0, 0, 19}, 3987};
}

TEST(fib, is_right) { expect_right(apps::fib::trial_of(20)); }
TEST(queens, is_right) { expect_right(apps::queens::trial_of(8)); }
TEST(compare, is_right) { expect_right(apps::compare::trial_of(500)); }
// In those hardly any number is equal to another one; here each is.
TEST(compare, finds_what_is_equal_at_the_border_of_every_part) {
  using namespace apps::compare;
  cleave::runtime runtime(cleave::options{.workers = 2, .check = true});
  for (const int n : {1, 4, 5, 9, 100, 777}) {
    const parallel::input in{[n] {
      arrays same(n);
      for (int i = 0; i < n; i++) same.a[i] = same.b[n - 1 - i] = i;
      return same;
    }()};
    const auto *a = in->a.data(), *b = in->b.data();
    EXPECT_EQ(sequential::compare(a, n, b, n), n);
    EXPECT_EQ(runtime.run([&] {
      const parallel::in_use while_it_runs(in);
      return parallel::compare(a, n, b, n);
    }),
              n);
  }
}

TEST(gravity, is_right) { expect_right(apps::gravity::trial_of(8)); }
TEST(lu, is_right) { expect_right(apps::lu::trial_of(300)); }
TEST(lu, by_blocks_is_right) { expect_right(apps::lu::trial_by_blocks(300, {.rows = 64}), false); }
TEST(cholesky, is_right) { expect_right(apps::cholesky::trial_of(300), false); }
TEST(md, is_right) {
  expect_right(
      apps::md::trial_of(apps::md::lattice(5), {.steps = 25, .every = 25, .blocks = {2, 2, 2}}),
      false);
}
TEST(matmul, is_right) { expect_right(apps::matmul::trial_of(200)); }
TEST(sort, is_right) { expect_right(apps::sort::trial_of(50'000)); }

TEST(uts, hashes_as_everybody_does) {
  using apps::uts::digest, apps::uts::sha1;
  EXPECT_EQ(sha1(0x61626364U),  // "abcd"
            (digest{0x81fe8bfe, 0x87576c3e, 0xcb22426f, 0x8e578473, 0x82917acf}));
  EXPECT_EQ(sha1(1U, 2U, 3U, 4U, 5U, 6U),
            (digest{0xe22fb07d, 0x14ede1f0, 0xff2d9b0a, 0xebe6df6b, 0x44523e21}));
}

TEST(uts, is_right) {
  expect_right(apps::uts::trial_of(small_tree(apps::uts::kind::geometric)));
  expect_right(apps::uts::trial_of(small_tree(apps::uts::kind::binomial)));
}

TEST(pentomino, is_right) {
  auto p = apps::pentomino::rectangle(3, 20);
  expect_right(
      apps::pentomino::trial_of(apps::pentomino::puzzle(p), apps::pentomino::solutions{8, 2}));
}

// Pieces of one and two cells, for which there are no pockets too small; of more than five; and
// many of a kind.
TEST(pentomino, pieces_of_any_size_and_number) {
  using namespace apps::pentomino;
  const auto piece_of = [](int cells, int count) {
    piece p{std::to_string(cells), {}, count};
    for (int i = 0; i < cells; i++) p.cells.push_back({0, i});
    return p;
  };
  const auto expect = [](problem p, std::vector<piece> pieces, solutions expected) {
    p.pieces = std::move(pieces);
    const auto run = trial_of(puzzle(p), expected);
    EXPECT_EQ(run(nullptr).found.wrong, "");
    cleave::runtime runtime(cleave::options{.workers = 2, .check = true});
    EXPECT_EQ(run(&runtime).found.wrong, "");
  };
  expect(rectangle(4, 4), {piece_of(2, 8)}, {36, 9});                 // OEIS A004003
  expect(rectangle(1, 5), {piece_of(1, 5), piece_of(2, 2)}, {8, 5});  // Fibonacci; 2 palindromes
  expect(rectangle(6, 6), {piece_of(6, 6)}, {2, 1});
}

TEST(pentomino, board_file_with_a_hole) {
  auto z = apps::pentomino::load(CLEAVE_SOURCE_DIR "/apps/pentomino/boards/8x8-hole.txt");
  const auto run = apps::pentomino::trial_of(z, apps::pentomino::solutions{520, 65});
  cleave::options o;
  o.workers = 2;
  cleave::runtime runtime(o);
  EXPECT_EQ(run(&runtime).found.wrong, "");
}

TEST(clique, is_right) {
  for (const char* name : {"keller4", "hamming8-4", "johnson8-4-4", "MANN_a9"}) {
    const auto g = apps::clique::generate(name).value();
    expect_right(apps::clique::trial_of(g, apps::clique::known_size(g, name), 0));
  }
}

TEST(clique, does_not_find_what_does_not_exist) {
  const auto g = apps::clique::generate("keller4").value();
  cleave::options o;
  o.workers = 2;
  cleave::runtime runtime(o);
  EXPECT_EQ(std::get<std::int64_t>(apps::clique::trial_of(g, 11, 11)(&runtime).found.main), 11);
}

}  // namespace
