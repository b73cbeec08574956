// labels: slow
// Every application's tasks that travel go through bytes and back, and give the right result.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clique/clique.hpp"
#include "clique/generators.hpp"
#include "compare/compare.hpp"
#include "compare/sequential.hpp"
#include "connect4/connect4.hpp"
#include "connect4/parse.hpp"
#include "connect4/sequential.hpp"
#include "fib/fib.hpp"
#include "gravity/gravity.hpp"
#include "pentomino/parse.hpp"
#include "pentomino/pentomino.hpp"
#include "queens/queens.hpp"
#include "sudoku/parse.hpp"
#include "sudoku/sequential.hpp"
#include "sudoku/sudoku.hpp"
#include "travel/two_nodes.hpp"
#include "tsp/collect.hpp"
#include "tsp/generators.hpp"
#include "tsp/sequential.hpp"
#include "tsp/share.hpp"
#include "tsp/tsp.hpp"
#include "uts/sequential.hpp"
#include "uts/uts.hpp"

namespace {

using tests::run_away;

TEST(travels, fib) { EXPECT_EQ(run_away(cleave::call<apps::fib::parallel::fib>(15)), 610); }

TEST(travels, queens) {
  using namespace apps::queens;
  board b(8);
  b.place(0, 3);
  std::uint64_t found = 0;
  tests::node home, away(&home);
  for (int first : {0, 3, 7}) {
    const int last = first == 0 ? 3 : first == 3 ? 7 : 8;
    found += run_away(cleave::call<parallel::search<board>>(b, 1, first, last), home, away);
  }
  EXPECT_EQ(found, 18u);  // solutions with a queen in the fourth column of the first row
}

TEST(travels, pentomino) {
  using namespace apps::pentomino;
  const parallel::published_puzzle z(puzzle(rectangle(3, 20)));
  parallel::workspace b(z);
  tests::node home, away(&home);
  solutions found;
  // Below the first piece placed, so that the kinds left are in another order.
  for (int i = 0; i < b.kinds; i++) {
    board::kind& kind = b.unused[std::size_t(i)];
    for (const orientation& o : kind) {
      std::uint8_t* const at = b.cell(z->start);
      if (!b.fits(o, at)) continue;
      b.place(o, at, kind);
      const auto* next = b.next_empty(at);
      for (int first : {0, 5}) {
        const int last = first == 0 ? 5 : b.kinds;
        found +=
            run_away(cleave::call<parallel::search_on>(z, b.where(), b.index(next), first, last),
                     home, away);
      }
      b.remove(o, at, kind);
    }
  }
  EXPECT_EQ(found, (solutions{8, 2}));
  EXPECT_EQ(away.fetched, 1);
}

TEST(travels, uts) {
  using namespace apps::uts;
  for (const parameters& p : {parameters{kind::geometric, shape::fixed, 5, 4, 0, 0, 19},
                              parameters{kind::binomial, shape::linear, 0, 100, 0.12, 8, 42}}) {
    const tree t(p);
    const int children = t.children(t.root());
    const auto found = tally{1, children == 0, 0} +
                       run_away(cleave::call<parallel::part>(p, t.root(), 0, 1)) +
                       run_away(cleave::call<parallel::part>(p, t.root(), 1, children));
    EXPECT_EQ(found, sequential::search(t, t.root()));
  }
}

TEST(travels, clique) {
  using namespace apps::clique;
  const graph g = generate("keller4").value();
  constexpr int words = 3;
  const parallel::published_graph<words> published(ordered_graph<words>{g});
  parallel::clique path(std::size_t(g.vertices));
  parallel::incumbent best(0);
  const auto all = published->all();
  const branches<words> branch(*published, all, 0);
  tests::node home, away(&home);
  for (int from = branch.first; from < branch.last; from += 32)
    run_away(cleave::call<parallel::part<words>>(published, path, 0, all, branch, from,
                                                 std::min(from + 32, branch.last), best),
             home, away);
  const auto [size, members] = best.best();
  EXPECT_EQ(size, 11);
  std::set<int> found(members.value().begin(), members.value().begin() + size);
  EXPECT_EQ(found.size(), 11u);
  for (int u : found)
    for (int v : found)
      EXPECT_TRUE(u == v || published->neighbours[std::size_t(u)].contains(v)) << u << ' ' << v;
  EXPECT_EQ(away.fetched, 1);
}

TEST(travels, gravity) {
  using namespace apps::gravity;
  using apps::vec3;
  const vec3 lower = run_away(cleave::call<parallel::slab>(8, -8, 1));
  const vec3 found = lower + run_away(cleave::call<parallel::slab>(8, 1, 9));
  EXPECT_LT(length(found - expected(particles(8))), 1e-5 * length(found));
}

TEST(travels, compare) {
  using namespace apps::compare;
  const parallel::input in{arrays(600)};
  const auto *a = in->a.data(), *b = in->b.data();
  tests::node home, away(&home);
  // Few numbers are equal: the same array twice has more to count.
  const parallel::input twice{[&] {
    arrays same(600);
    same.b = same.a;
    return same;
  }()};
  for (const auto& each : {in, twice}) {
    const long found = run_away(cleave::call<parallel::part>(each, 0, 200, 0, 600), home, away) +
                       run_away(cleave::call<parallel::part>(each, 200, 400, 0, 600), home, away);
    EXPECT_EQ(found, expected(*each));
  }
  EXPECT_EQ(sequential::compare(a, 600, b, 600), expected(*in));
  EXPECT_EQ(away.fetched, 2);
}

// Each part goes on with the best score of those before, and uses the table of its node.
TEST(travels, connect4) {
  using namespace apps::connect4;
  const limits l{1, squares};
  const std::string played = "116366431264733415462";
  const position p = parse(played);
  const int stones = static_cast<int>(played.size());
  sequential::game alone(l);
  const solution expected = sequential::solve(alone, p, stones);
  const move_list moves(p, p.not_losing());
  ASSERT_GE(moves.count(), 2);
  const parallel::published_game g(std::make_shared<const parallel::game>(l));
  tests::node home, away(&home);

  parallel::best_score rank(ranked::of(worst, 0)), score(worst);
  for (int i = 0; i < moves.count(); i++) {
    run_away(cleave::call<parallel::some_root_moves>(g, p, moves, stones, i, i + 1, rank), home,
             away);
    run_away(
        cleave::call<parallel::some_moves>(g, p, moves, stones, worst, -worst, i, i + 1, score),
        home, away);
  }
  EXPECT_EQ(ranked::score(rank.get()), expected.score);
  EXPECT_EQ(moves.column(ranked::place(rank.get())), expected.column);
  EXPECT_EQ(score.get(), expected.score);
  EXPECT_EQ(away.fetched, 1);
}

TEST(travels, sudoku) {
  using namespace apps::sudoku;
  const puzzles given = load(CLEAVE_SOURCE_DIR "/apps/sudoku/puzzles/hard.txt");
  const digits expected = sequential::solve(given[0], question::first).first;
  const grid g(given[0]);
  const grid::choice c = g.next();
  ASSERT_GE(c.count, 2);
  tests::node home, away(&home);
  parallel::solution first;
  std::uint64_t all = 0;
  parallel::known known(parallel::none);
  for (int i = 0; i < c.count; i++) {
    if (!first) first = run_away(cleave::call<parallel::find_part>(g, c, i, i + 1), home, away);
    all += run_away(cleave::call<parallel::count_part>(g, c, i, i + 1), home, away);
    run_away(cleave::call<parallel::unite_part>(g, c, i, i + 1, known), home, away);
  }
  EXPECT_EQ(first.its, std::vector<std::uint8_t>(expected.begin(), expected.end()));
  EXPECT_EQ(all, 1u);
  EXPECT_GE(known.get(), 0);
  EXPECT_LT(known.get(), c.count);

  const parallel::published_puzzles published(given);
  const int last = static_cast<int>(given.size());
  const auto some =
      run_away(cleave::call<parallel::solve_part>(published, question::first, 1, last), home, away);
  EXPECT_EQ(some.first, 1);
  EXPECT_EQ(some.all.size(), given.size() - 1);
  EXPECT_EQ(some.all.back(), sequential::solve(given.back(), question::first));
}

// The branches of a node, one after the other, visit the nodes that the sequential program does.
TEST(travels, tsp) {
  using namespace apps::tsp;
  const instance cities = random_cities(40, 12);
  const result expected = sequential::shortest_tour(cities, {});
  const result in_vain = sequential::shortest_tour(cities, expected.length);
  for (const length_t start : {expected.length, expected.length + 500}) {
    const root r = begin_search(cities, start);
    const parallel::published_graph g(r.edges);
    workspace w(*g, r.begin);
    ASSERT_EQ(w.raise(at_node, start), workspace::verdict::open);
    const branching b = w.branch(start);
    parallel::incumbent best(start);
    tests::node home, away(&home);
    std::uint64_t nodes = 1;
    for (int i = 0; i < b.count; i++)
      nodes += run_away(cleave::call<parallel::part>(g, w.top(), b, i, i + 1, best), home, away);
    EXPECT_EQ(best.get(), expected.length);
    if (start == expected.length) EXPECT_EQ(nodes, in_vain.nodes);
    else EXPECT_EQ(length_of(cities, best.best().second.value()), expected.length);
    EXPECT_EQ(away.fetched, 1);
  }
}

// Each searcher goes on with what those before have told.
TEST(travels, tours) {
  using namespace apps::tsp;
  const cleave::published<instance> cities(grid(4));
  const wanted_tours wanted{6, shortest_of_grid(4), 5000, false, 1, 2000};
  const sharing how{sending::one, 2};
  parallel::known_tours known(0);
  tests::node home, away(&home);
  const auto first =
      run_away(cleave::call<parallel::search_tours>(cities, wanted, how, 0, 1, known), home, away);
  EXPECT_EQ(first.tours, sequential::collect(*cities, wanted).tours);
  EXPECT_EQ(first.runs.found, 6);
  EXPECT_EQ(known.get(), 6);
  EXPECT_EQ(known.best().second->size(), 6u);
  const auto second =
      run_away(cleave::call<parallel::search_tours>(cities, wanted, how, 1, 2, known), home, away);
  EXPECT_EQ(second.runs.runs(), 0);
  EXPECT_EQ(away.fetched, 1);
}

// The types that the applications' own frames give are in the list.
TEST(travels, every_application_has_its_tables) {
  std::set<std::string> missing = {"fib::parallel::fib",
                                   "queens::parallel::search",
                                   "pentomino::parallel::search",
                                   "uts::parallel::part",
                                   "clique::parallel::part",
                                   "gravity::parallel::slab",
                                   "compare::parallel::part",
                                   "connect4::parallel::some_moves",
                                   "connect4::parallel::some_root_moves",
                                   "tsp::parallel::part",
                                   "tsp::parallel::search_tours",
                                   "sudoku::parallel::find_part",
                                   "sudoku::parallel::count_part",
                                   "sudoku::parallel::unite_part",
                                   "sudoku::parallel::solve_part"};
  for (const auto* t = cleave::detail::wire_types(); t != nullptr; t = t->next())
    for (const auto& each : missing)
      if (t->name().find(each) != std::string::npos) {
        missing.erase(each);
        break;
      }
  EXPECT_EQ(missing, std::set<std::string>());
  EXPECT_NE(cleave::detail::program_hash(), 0u);
}

}  // namespace
