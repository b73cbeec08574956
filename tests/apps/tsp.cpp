// Reads TSPLIB's formats, and finds shortest tours: those of an exhaustive search, and the same on
// any number of workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tsp/collect.hpp"
#include "tsp/gather.hpp"
#include "tsp/generators.hpp"
#include "tsp/report.hpp"
#include "tsp/sequential.hpp"
#include "tsp/share.hpp"
#include "tsp/trial.hpp"
#include "tsp/tsp.hpp"
#include "tsp/tsplib.hpp"

namespace {

using namespace apps::tsp;

instance parse(const std::string& text) {
  std::istringstream in(text);
  return tsplib_reader(in, "text").read();
}
instance parse(const std::string& format, const std::string& numbers, int cities = 4) {
  return parse("NAME: x\nTYPE: TSP\nDIMENSION: " + std::to_string(cities) +
               "\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: " + format +
               "\nEDGE_WEIGHT_SECTION\n" + numbers + "\nEOF\n");
}
instance of_type(const std::string& type, const std::string& cities) {
  return parse("DIMENSION: 3\nEDGE_WEIGHT_TYPE: " + type + "\nNODE_COORD_SECTION\n" + cities);
}

TEST(tsplib, reads_every_form_of_a_matrix) {
  const std::vector<int> expected = {0, 1, 2, 3, 1, 0, 4, 5, 2, 4, 0, 6, 3, 5, 6, 0};
  for (const auto& [format, numbers] : std::vector<std::pair<std::string, std::string>>{
           {"FULL_MATRIX", "0 1 2 3  1 0 4 5  2 4 0 6  3 5 6 0"},
           {"UPPER_ROW", "1 2 3 4 5 6"},
           {"LOWER_ROW", "1 2 4 3 5 6"},
           {"UPPER_DIAG_ROW", "0 1 2 3 0 4 5 0 6 0"},
           {"LOWER_DIAG_ROW", "0 1 0 2 4 0 3 5 6 0"},
           {"UPPER_COL", "1 2 4 3 5 6"},
           {"LOWER_COL", "1 2 3 4 5 6"},
           {"UPPER_DIAG_COL", "0 1 0 2 4 0 3 5 6 0"},
           {"LOWER_DIAG_COL", "0 1 2 3 0 4 5 0 6 0"}})
    EXPECT_EQ(parse(format, numbers).lengths, expected) << format;
}

TEST(tsplib, the_numbers_of_a_section_are_one_stream) {
  const auto expected = parse("UPPER_ROW", "1 2 3 4 5 6").lengths;
  EXPECT_EQ(parse("UPPER_ROW", "\n1 2\r\n\n 3\t4 5\n6").lengths, expected);
  EXPECT_EQ(parse("UPPER_ROW", "1\n2\n3\n4\n+5\n6").lengths, expected);
  // What is on the diagonal is no length.
  EXPECT_EQ(parse("UPPER_DIAG_ROW", "9 1 2 3 99 4 5 999 6 9999").lengths, expected);
}

TEST(tsplib, keywords_are_written_in_many_ways) {
  const instance read = parse(
      "NAME : a: b\r\nCOMMENT\r\n\r\nCOMMENT: : \r\n  TYPE:TSP (somebody)\r\nDIMENSION\t:\t3\r\n"
      "EDGE_WEIGHT_TYPE   EXPLICIT\r\nNODE_COORD_TYPE : NO_COORDS\r\nEDGE_WEIGHT_FORMAT :UPPER_ROW "
      "\r\n"
      "DISPLAY_DATA_TYPE: TWOD_DISPLAY\r\nEDGE_WEIGHT_SECTION :\r\n1 2 3\r\n"
      "DISPLAY_DATA_SECTION\r\n2 1 1\r\n1 2.5 -1e3\r\n3 0 0");
  EXPECT_EQ(read.name, "a: b");
  EXPECT_EQ(read.lengths, (std::vector<int>{0, 1, 2, 1, 0, 3, 2, 3, 0}));
  EXPECT_EQ(parse("UPPER_ROW", "1 2 3\nEOF\nwhatever", 3).lengths, read.lengths);
}

TEST(tsplib, lengths_of_coordinates) {
  const std::string cities = "2 3 4\n1 0.0 0\n3 +1 1.0e0";
  EXPECT_EQ(of_type("EUC_2D", cities).lengths, (std::vector<int>{0, 5, 1, 5, 0, 4, 1, 4, 0}));
  EXPECT_EQ(of_type("CEIL_2D", cities).lengths, (std::vector<int>{0, 5, 2, 5, 0, 4, 2, 4, 0}));
  // √(25 / 10) = 1.58 → 2; √(2 / 10) = 0.45 → 1, as 0 is less; √(13 / 10) = 1.14 → 2.
  EXPECT_EQ(of_type("ATT", cities).lengths, (std::vector<int>{0, 2, 1, 2, 0, 2, 1, 2, 0}));
  EXPECT_EQ(of_type("EUC_2D", "1 0 0\n2 0 2.5\n3 0 7")(0, 1), 3);  // a half is rounded up
}

// A degree of latitude is 111.32 km; 30 in the decimals are 30 minutes, half of that. Each length
// is cut off after 1 was added.
TEST(tsplib, decimals_of_geographical_coordinates_are_minutes) {
  const instance north = of_type("GEO", "1 10 20\n2 11.00 20\n3 10.30 20");
  EXPECT_EQ(north.lengths, (std::vector<int>{0, 112, 56, 112, 0, 56, 56, 56, 0}));
  const instance south = of_type("GEO", "1 -10 20\n2 -11.00 20\n3 -10.30 20");
  EXPECT_EQ(south.lengths, north.lengths);
  EXPECT_EQ(of_type("GEO", "1 0.50 0\n2 1.10 0\n3 0.50 0")(0, 1), 38);  // 20 minutes
  EXPECT_EQ(of_type("GEO", "1 0.50 0\n2 1.10 0\n3 0.50 0")(0, 2), 1);   // the same place
}

// Of TSPLIB's own files, those that are found in the folder that the environment names.
TEST(tsplib, known_lengths_of_known_files) {
  const char* folder = std::getenv("CLEAVE_TSPLIB");
  if (!folder) GTEST_SKIP() << "CLEAVE_TSPLIB does not name a folder of TSPLIB's files";
  // TSPLIB 95, section 2.7.
  for (const auto& [name, length] : std::vector<std::pair<std::string, length_t>>{
           {"pcb442", 221'440}, {"gr666", 423'710}, {"att532", 309'636}}) {
    const instance read = load(std::string(folder) + "/" + name + ".tsp");
    EXPECT_EQ(length_of(read, first_to_last(read.cities)), length) << name;
  }
  for (const auto& [name, length] :
       std::vector<std::pair<std::string, length_t>>{{"berlin52", 7542},
                                                     {"att48", 10'628},
                                                     {"ulysses16", 6859},
                                                     {"gr17", 2085},
                                                     {"bayg29", 1610},
                                                     {"bays29", 2020},
                                                     {"gr48", 5046},
                                                     {"eil51", 426}}) {
    const instance read = load(std::string(folder) + "/" + name + ".tsp");
    EXPECT_EQ(sequential::shortest_tour(read, {}).length, length) << name;
  }
}

length_t by_trying_all(const instance& cities) {
  tour t = first_to_last(cities.cities);
  length_t least = std::numeric_limits<length_t>::max();
  do least = std::min(least, length_of(cities, t));
  while (std::next_permutation(t.begin() + 1, t.end()));
  return least;
}
// Lengths that are no distances; many are equal.
instance random_lengths(int cities, std::uint64_t seed, unsigned most) {
  apps::random_numbers next(seed);
  instance made("random", cities);
  for (int a = 0; a < cities; a++)
    for (int b = 0; b < a; b++) made.set(a, b, static_cast<int>(next() % (most + 1)));
  return made;
}

// What follows from decisions holds for each tour that they allow; what is taken back is as before.
TEST(tsp, what_follows_from_a_decision) {
  constexpr int n = 7;
  const graph g = complete_graph(random_cities(n, 1));
  apps::random_numbers next(1);
  int impossible = 0;
  for (int round = 0; round < 200; round++) {
    constraints c(g);
    std::vector<std::pair<std::size_t, std::vector<use>>> before;
    std::vector<decision> made;
    while (!c.impossible() && c.decided() < g.edges.size()) {
      const auto e = static_cast<std::int32_t>(next() % g.edges.size());
      if (c.of(e) != use::open) continue;
      before.emplace_back(c.decided(), c.uses());
      made.push_back({e, next() % 3 == 0 ? use::required : use::forbidden});
      c.decide(made.back());
    }
    int allowed = 0;
    tour t = first_to_last(n);
    do {
      std::vector<use> of(g.edges.size(), use::forbidden);
      for (std::size_t i = 0; i < n; i++)
        for (const auto& [to, e] : g.of(t[i]))
          if (to == t[(i + 1) % n]) of[std::size_t(e)] = use::required;
      if (!std::all_of(made.begin(), made.end(),
                       [&](decision d) { return of[std::size_t(d.edge)] == d.as; }))
        continue;
      allowed++;
      ASSERT_FALSE(c.impossible());
      ASSERT_EQ(of, c.uses());  // all is decided: there is one tour
    } while (std::next_permutation(t.begin() + 1, t.end()));
    EXPECT_EQ(allowed, c.impossible() ? 0 : 2);  // in both directions
    impossible += c.impossible();
    for (; !before.empty(); before.pop_back()) {
      c.take_back(before.back().first);
      ASSERT_EQ(c.uses(), before.back().second);
      ASSERT_FALSE(c.impossible());
    }
    for (int city = 0; city < n; city++) ASSERT_EQ(c.required_at(city), 0);
  }
  EXPECT_GT(impossible, 0);
  EXPECT_LT(impossible, 200);
}

TEST(tsp, finds_what_trying_all_tours_finds) {
  for (int n = 3; n <= 8; n++)
    for (unsigned seed = 1; seed <= 12; seed++)
      for (const instance& cities : {random_cities(n, seed), random_lengths(n, seed, 3 * seed)}) {
        const length_t expected = by_trying_all(cities);
        // Without a tour to begin with, the search has to find one.
        for (const auto start : {std::optional<length_t>(), std::optional(2 * expected + 100),
                                 std::optional(expected + 1)}) {
          const result found = sequential::shortest_tour(cities, start);
          ASSERT_EQ(found.length, expected) << cities.name << ' ' << n << ' ' << seed;
          ASSERT_EQ(report(cities, true, found).wrong, "");
          ASSERT_LE(found.root_bound, expected);
        }
        ASSERT_EQ(sequential::shortest_tour(cities, expected).length, expected);
        ASSERT_TRUE(sequential::shortest_tour(cities, expected).shortest.empty());
      }
}

// Whoever has divided the search, or has gone back in it, has visited the same nodes.
TEST(tsp, is_right) {
  for (const instance& cities : {random_cities(30, 6), random_cities(40, 12)}) {
    const result expected = sequential::shortest_tour(cities, {});
    const result in_vain = sequential::shortest_tour(cities, expected.length);
    EXPECT_GT(in_vain.nodes, 50u);
    const auto compare = [&](cleave::runtime& runtime, const std::string& how) {
      const length_t longer = expected.length + expected.length / 50;
      const auto run = [&](std::optional<length_t> start) {
        return runtime.run([&] { return parallel::shortest_tour(cities, start); });
      };
      EXPECT_EQ(run(expected.length).nodes, in_vain.nodes) << how;
      for (const auto start : {std::optional<length_t>(), std::optional(longer)}) {
        const result found = run(start);
        EXPECT_EQ(found.length, expected.length) << how;
        EXPECT_EQ(report(cities, false, found).wrong, "") << how;
      }
      const auto found = trial_of(cities, {}, false)(&runtime);
      EXPECT_EQ(found.found.wrong, "") << how;
      EXPECT_EQ(std::get<std::int64_t>(found.found.main), expected.length) << how;
    };
    for (const int workers : {1, 2, 8}) {
      cleave::runtime runtime(cleave::options{.workers = workers});
      compare(runtime, std::to_string(workers) + " workers");
    }
    cleave::runtime runtime(cleave::options{.workers = 2, .check = true});
    compare(runtime, "divided at every poll");
  }
}

TEST(tsp, a_worse_tour_to_begin_with_costs_nodes_only) {
  const instance cities = random_lengths(26, 3, 300);
  const result expected = sequential::shortest_tour(cities, {});
  const result found = sequential::shortest_tour(cities, 10 * expected.length);
  EXPECT_EQ(found.length, expected.length);
  EXPECT_TRUE(is_tour(cities, found.shortest));
  EXPECT_EQ(sequential::shortest_tour(cities, expected.length - 1).length, expected.length - 1);
}

// A searcher tells others of its tours as often as it was told to: here nobody else finds any.
TEST(tours, are_told_to_others) {
  const instance cities = grid(6);
  const wanted_tours wanted{12, shortest_of_grid(6), 50'000, false, 1, 2000};
  cleave::runtime runtime(cleave::options{.workers = 1});
  const auto times = [&](sending when, int searchers) {
    return runtime
        .run([&] {
          return parallel::collect_sharing(cleave::published<instance>(cities), wanted,
                                           {when, searchers});
        })
        .told.sent;
  };
  EXPECT_EQ(times(sending::one, 2), 12);
  EXPECT_EQ(times(sending::part, 2), 2);      // 6, 6
  EXPECT_EQ(times(sending::part, 4), 4);      // 3, 3, 3, 3
  EXPECT_EQ(times(sending::halving, 2), 5);   // 6, 3, 1, 1, 1
  EXPECT_EQ(times(sending::doubling, 2), 4);  // 1, 2, 4, 5
}

// One collection that all have: every tour is found once, and nothing is done when all are there.
TEST(tours, are_gathered) {
  const instance cities = grid(6);
  const wanted_tours wanted{12, shortest_of_grid(6), 50'000, false, 1, 2000};
  for (const int workers : {1, 2}) {
    cleave::runtime runtime(cleave::options{.workers = workers});
    for (const sending when : {sending::one, sending::halving}) {
      const auto found = runtime.run([&] {
        return parallel::collect_gathering(cleave::published<instance>(cities), wanted, {when, 4});
      });
      EXPECT_EQ(found.tours.size(), 12u);
      EXPECT_GE(found.runs.found, 12);
      for (const tour& t : found.tours) {
        EXPECT_TRUE(is_tour(cities, t));
        EXPECT_EQ(length_of(cities, t), wanted.length);
      }
      EXPECT_LT(found.runs.found + found.runs.same + found.runs.failed, wanted.most_runs);
    }
  }
}

// Searchers that tell nothing know nothing of each other: the most that one has found counts.
TEST(tours, of_one_searcher_count_where_all_are_apart) {
  const instance cities = grid(6);
  const wanted_tours wanted{12, shortest_of_grid(6), 50'000, false, 1, 30};
  cleave::runtime runtime(cleave::options{.workers = 1});
  const auto found_by = [&](int searchers) {
    return runtime.run([&] {
      return parallel::collect_sharing(cleave::published<instance>(cities), wanted,
                                       {sending::never, searchers});
    });
  };
  std::size_t most = 0;
  std::int64_t all = 0;
  double seconds = 0;
  for (int first = 0; first < 5; first++) {
    collection own;
    for (int i = first; i < 30; i += 5)
      own.add(cities, wanted, *run_descent(cities, wanted, i, seconds, [] { return false; }), 0);
    most = std::max(most, own.tours().size());
    all += own.runs().found;
  }
  const collected found = found_by(5);
  EXPECT_EQ(found.tours.size(), most);
  EXPECT_EQ(found.runs.found, all);
  EXPECT_GT(all, static_cast<std::int64_t>(most));
  EXPECT_EQ(found.told.messages, 0);
  EXPECT_EQ(found_by(1).tours.size(), 12u);
}

// A run that is ended early finds nothing, but takes its time.
TEST(tours, a_run_can_be_ended) {
  const instance cities = grid(6);
  const wanted_tours wanted{12, shortest_of_grid(6), 50'000, false, 1, 30};
  double ended = 0, whole = 0;
  int asked = 0;
  EXPECT_FALSE(run_descent(cities, wanted, 0, ended, [&] { return ++asked == 2; }));
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(run_descent(cities, wanted, 0, whole, [] { return false; }));
  EXPECT_GT(ended, 0);
  EXPECT_GT(whole, 0);
}

// What others have told is no longer looked for.
TEST(tours, are_known_that_others_have_told) {
  const instance cities = grid(4);
  const wanted_tours wanted{6, shortest_of_grid(4), 5000, false, 1, 2000};
  const auto all = sequential::collect(cities, wanted).tours;
  parallel::known_tours known(0);
  known.offer(5, {std::next(all.begin()), all.end()});
  const sharing how{sending::one, 1};
  const auto found = parallel::searcher(cities, wanted, how, known).run(0);
  EXPECT_EQ(found.tours, all);
  EXPECT_EQ(found.runs.found, 1);
  EXPECT_EQ(known.get(), 6);
}

TEST(tours, that_are_wrong_are_found) {
  const instance cities = grid(4);
  const wanted_tours wanted{6, shortest_of_grid(4), 5000, false, 1, 2000};
  const collected right = sequential::collect(cities, wanted);
  const auto with = [&](const tour& t) {
    collected c = right;
    c.tours.erase(c.tours.begin());
    c.tours.insert(t);
    return report(cities, wanted, c).wrong;
  };
  EXPECT_EQ(with(*right.tours.begin()), "");
  EXPECT_NE(with(first_to_last(16)), "");  // it is longer
  EXPECT_NE(with(tour(16)), "");
  tour turned = *right.tours.begin();
  std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  EXPECT_NE(with(turned), "");
  EXPECT_NE(report(cities, {5, wanted.length, 5000, false, 1, 2000}, right).wrong, "");
}

// A grid of 4 × 4 has 6 such tours (OEIS A003763), one of 6 × 6 has 1072.
TEST(tours, all_of_a_small_grid_are_found) {
  const instance cities = grid(4);
  const wanted_tours wanted{6, shortest_of_grid(4), 5000, false, 1, 2000};
  const collected found = sequential::collect(cities, wanted);
  EXPECT_EQ(found.tours.size(), 6u);
  EXPECT_LT(found.runs.runs(), 2000);
  EXPECT_GT(found.runs.same, 0);
  EXPECT_EQ(report(cities, wanted, found).wrong, "");
  const collected more = sequential::collect(cities, {7, wanted.length, 5000, false, 1, 200});
  EXPECT_EQ(more.tours, found.tours);
  EXPECT_EQ(more.runs.runs(), 200);
}

// The run with a number has the same result wherever it is made; each is made once.
TEST(tours, are_the_same_on_any_number_of_workers) {
  const instance cities = grid(4);
  const wanted_tours none_too_many{7, shortest_of_grid(4), 1000, false, 3, 300};
  const collected expected = sequential::collect(cities, none_too_many);
  EXPECT_EQ(expected.runs.runs(), 300);
  EXPECT_GT(expected.runs.failed, 0);
  const wanted_tours some{20, shortest_of_grid(6), 20'000, false, 1, 2000};
  const instance larger = grid(6);
  const auto compare = [&](cleave::runtime& runtime, int searchers) {
    const collected all =
        runtime.run([&] { return parallel::collect_together(cities, none_too_many); });
    EXPECT_EQ(all.tours, expected.tours);
    EXPECT_EQ(all.runs.runs(), 300);
    EXPECT_EQ(all.runs.failed, expected.runs.failed);
    for (const sending when :
         {sending::one, sending::part, sending::halving, sending::doubling, sending::never}) {
      const collected shared = runtime.run([&] {
        return parallel::collect_sharing(cleave::published<instance>(cities), none_too_many,
                                         {when, searchers});
      });
      const bool all_tell = when != sending::never;
      EXPECT_EQ(shared.tours.size(), all_tell ? expected.tours.size() : shared.tours.size());
      EXPECT_EQ(shared.runs.runs(), 300);
      EXPECT_EQ(shared.runs.failed, expected.runs.failed);
      EXPECT_EQ(shared.told.messages, shared.told.sent * (searchers - 1));
    }
    for (const auto how : {organisation::together, organisation::apart, organisation::sharing,
                           organisation::master}) {
      const auto found = trial_of_collecting(larger, some, how)(&runtime).found;
      EXPECT_EQ(found.wrong, "");
      EXPECT_EQ(std::get<std::int64_t>(found.main), 20);
    }
  };
  for (const int workers : {1, 2, 8}) {
    cleave::runtime runtime(cleave::options{.workers = workers});
    compare(runtime, workers);
  }
  cleave::runtime runtime(cleave::options{.workers = 2, .check = true});
  compare(runtime, 2);
  EXPECT_EQ(trial_of_collecting(larger, some, organisation::together)(nullptr).found.wrong, "");
}

TEST(tours, are_compared_after_turning_and_mirroring) {
  const tour t = {3, 1, 4, 0, 2, 5};
  tour other = t;
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    for (std::size_t i = 0; i < t.size(); i++) {
      EXPECT_EQ(normalized(other), normalized(t));
      std::rotate(other.begin(), other.begin() + 1, other.end());
    }
    std::reverse(other.begin(), other.end());
  }
  EXPECT_NE(normalized({1, 3, 4, 0, 2, 5}), normalized(t));
}

// Each change is undone, or makes the tour shorter by what the lengths say.
TEST(tours, random_changes_never_make_a_tour_longer) {
  for (const instance& cities : {grid(5), random_lengths(9, 2, 5), random_cities(3, 1)})
    for (const int most : {0, -1}) {
      descent d(cities, 1, most);
      length_t length = length_of(cities, d.now());
      tour before = d.now();
      int moved = 0;
      for (int i = 0; i < 3000; i++) {
        const bool shorter = d.change();
        const length_t now = length_of(cities, d.now());
        ASSERT_TRUE(is_tour(cities, d.now()));
        ASSERT_EQ(now < length, shorter);
        ASSERT_LE(now, length);
        if (now == length) {
          const bool same = normalized(d.now()) == normalized(before);
          moved += !same;
          ASSERT_TRUE(same || most == 0);
        }
        length = now;
        before = d.now();
      }
      EXPECT_EQ(moved > 0, most == 0 && cities.cities > 3);
    }
}

TEST(tsp, wrong_answers_are_found) {
  const instance cities = random_cities(9, 1);
  result found = sequential::shortest_tour(cities, {});
  EXPECT_EQ(report(cities, false, found).wrong, "");
  result longer = found;
  longer.length++;
  EXPECT_NE(report(cities, false, longer).wrong, "");
  std::swap(found.shortest[2], found.shortest[5]);
  EXPECT_NE(report(cities, false, found).wrong, "");
  found.shortest[2] = found.shortest[5];
  EXPECT_NE(report(cities, false, found).wrong, "");
}

}  // namespace
