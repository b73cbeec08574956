// Rounds of subtasks that several nodes make once, each its part.
#include "node/parts_of_nodes.hpp"
#include "node/team_of.hpp"

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{2, 3, 50us},
                                         shape{3, 1, 200us}, shape{5, 2, 0us}),
                         shape_name);

struct random_rounds : parts_of_nodes {
  int rounds = 0;
  int throws_in = -1;   // the round in which part 77 throws
  int cancels_in = -1;  // the round in which part 77 cancels the graph
  auto input() { return std::tie(seed, rounds, throws_in, cancels_in); }

  std::vector<value> expected() const {
    std::vector<value> v(data, 1);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < parts; ++i) {
        std::vector<value> reads;
        for (const std::size_t d : read(i)) reads.push_back(v[d]);
        v[written(i)] = changed(i + round, v[written(i)], reads);
      }
    }
    for (value& each : v) each = 3 * each;
    return v;
  }

  std::vector<value> run(team& all) const {
    team_graph g(all);
    std::vector<datum<value>> v;
    for (std::size_t k = 0; k < data; ++k) v.push_back(g.make<value>(1));
    if (seed % 2 == 0)  // else all nodes have all data
      for (const auto& d : v) g.run([](value& to) { to = 1; }, out(d));
    // This node makes the rounds one by one, with messages that are not of rounds.
    if (seed % 4 == 3 && all.rank() == 1) g.earliest_first();
    const std::vector<int> mine = of(all.rank(), all.size());
    g.repeat(static_cast<std::uint64_t>(rounds), [&](std::uint64_t first) {
      g.for_mine(parts, mine, [&](int i) {
        std::vector<datum<value>> reads;
        for (const std::size_t d : read(i)) reads.push_back(v[d]);
        const auto f = [i, &g, round = static_cast<int>(first), *this](values<const value> r,
                                                                       value& to) mutable {
          disturb(static_cast<std::uint64_t>(i));
          if (i == 77 && round == throws_in) throw std::domain_error("in " + std::to_string(round));
          if (i == 77 && round == cancels_in) g.cancel();
          to = changed(i + round++, to, {r.begin(), r.end()});
        };
        if (adds(i)) g.run(f, in(reads), add(v[written(i)]));
        else g.run(f, in(reads), inout(v[written(i)]));
      });
    });
    std::string threw;
    try {
      if (!g.wait()) {
        noted.add(all.rank(), "cancelled");
        return {};
      }
    } catch (const std::domain_error& e) { threw = e.what(); }
    if (throws_in >= 0) {
      noted.add(all.rank(), threw);
      return {};
    }
    // What follows is made by all.
    for (const auto& d : v) g.run([](value& to) { to *= 3; }, inout(d));
    for (const auto& d : v) g.bring(d);
    EXPECT_TRUE(g.wait());
    std::vector<value> result;
    std::string seen;
    for (const auto& d : v) result.push_back(*d), seen += ' ' + std::to_string(*d);
    noted.add(all.rank(), seen);
    return result;
  }
};

TEST_P(team_of, random_rounds) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    noted.clear();
    const random_rounds p{{seed}, static_cast<int>(1 + 3 * seed)};
    EXPECT_EQ(j.root().run_on_all(p), p.expected()) << "seed " << seed;
    EXPECT_EQ(noted.all().size(), size);
    for (const auto& [rank, seen] : noted.all()) EXPECT_EQ(seen, noted.all()[0]);
  }
}

TEST_P(team_of, a_round_throws) {
  for (const int round : {0, 3, 19}) {
    noted.clear();
    j.root().run_on_all(random_rounds{{static_cast<std::uint64_t>(round)}, 20, round});
    EXPECT_EQ(noted.all().size(), size);
    for (const auto& [rank, seen] : noted.all())
      EXPECT_EQ(seen, std::vector{"in " + std::to_string(round)}) << rank;
  }
}

TEST_P(team_of, a_round_cancels_the_graph) {
  for (const int round : {0, 3, 19}) {
    noted.clear();
    j.root().run_on_all(random_rounds{{static_cast<std::uint64_t>(round)}, 20, -1, round});
    for (const auto& [rank, seen] : noted.all())
      EXPECT_EQ(seen, std::vector<std::string>{"cancelled"}) << rank;
  }
}

/// In a round each node in turn makes new data of what the one before it has, some short, some too
/// long for a message with others.
struct of_many_lengths {
  using numbers = std::vector<value>;
  int rounds = 0;
  value cannot_be_written = 0;
  auto input() { return std::tie(rounds, cannot_be_written); }
  static constexpr std::size_t kinds = 4;

  struct content {
    numbers all{0};
    value refuses = 0;
    template <class Archive>
    void save(Archive& to) const {
      if (all[0] == refuses && refuses != 0) throw std::domain_error("not to be written");
      to(all, refuses);
    }
    template <class Archive>
    void load(Archive& from) {
      from(all, refuses);
    }
  };
  static void next(std::size_t kind, const content& before, content& of) {
    constexpr std::array<std::size_t, kinds> longest{1, 3, 700, 9'000};
    const value first = of.all[0] + before.all.back() + 1;
    of.all.assign(longest[kind] - (first % 3 == 0 ? longest[kind] / 3 : 0), first);
  }
  /// What each node has in the end.
  std::vector<value> expected(std::size_t size) const {
    std::vector<content> d(kinds * size);
    for (int round = 0; round < rounds; ++round)
      for (std::size_t rank = 0; rank < size; ++rank)
        for (std::size_t kind = 0; kind < kinds; ++kind)
          next(kind, d[kinds * ((rank + size - 1) % size) + kind], d[kinds * rank + kind]);
    std::vector<value> firsts;
    for (const content& c : d) firsts.push_back(c.all[0]);
    return firsts;
  }
  std::vector<value> run(team& all) const {
    const unsigned n = all.size();
    team_graph g(all);
    std::vector<datum<content>> d;
    for (unsigned i = 0; i < kinds * n; ++i) {
      d.push_back(g.make<content>(content{numbers{0}, cannot_be_written}));
      g.set_home(d.back(), i / kinds);
    }
    std::vector<unsigned> mine;
    for (unsigned i = 0; i < kinds * n; ++i)
      if (const unsigned rank = i / kinds;
          rank == all.rank() || (rank + 1) % n == all.rank() || rank == (all.rank() + 1) % n)
        mine.push_back(i);
    g.repeat(static_cast<std::uint64_t>(rounds), [&](std::uint64_t /* round */) {
      g.for_mine(kinds * n, mine, [&](unsigned i) {
        const std::size_t before = (i + kinds * (n - 1)) % (kinds * n);
        g.run([kind = i % kinds](const content& b, content& of) { next(kind, b, of); },
              in(d[before]), inout(d[i]));
      });
    });
    for (const auto& each : d) g.bring(each);
    EXPECT_TRUE(g.wait());
    std::vector<value> firsts;
    for (const auto& each : d) firsts.push_back(each->all[0]);
    return firsts;
  }
};

TEST_P(team_of, values_of_many_lengths_in_rounds) {
  if (size == 1) return;  // a subtask would read what it writes
  for (const int rounds : {1, 2, 40}) {
    const of_many_lengths p{rounds};
    EXPECT_EQ(j.root().run_on_all(p), p.expected(size)) << rounds;
  }
}

TEST_P(team_of, a_value_that_cannot_be_written_in_a_round) {
  if (size == 1) return;
  for (const int round : {2, 17}) {
    const value last = of_many_lengths{round}.expected(size)[0];
    EXPECT_THROW(j.root().run_on_all(of_many_lengths{40, last}), std::domain_error);
  }
}

/// Node 0 has something to run at any time: it never waits. Returns in how many of its rounds its
/// worker watched for messages.
struct never_waits {
  int rounds = 0;
  int microseconds = 0;  // how long a subtask of node 0 takes, at least
  auto input() { return std::tie(rounds, microseconds); }
  static bool is_watching() {
    detail::message_watch& w = *detail::team_of_this_node()->watch();
    if (!w.begin_watch()) return true;
    w.end_watch();
    return false;
  }
  int run(team& all) const {
    team_graph g(all);
    auto first = g.make<int>(0), second = g.make<int>(0);
    g.set_home(first, 0);
    g.set_home(second, 1);
    auto add_one = [length = microseconds](int& to) {
      to += is_watching();
      if (length != 0) std::this_thread::sleep_for(std::chrono::microseconds(length));
    };
    auto copy = [](const int& from, int& to) { to = from; };
    const std::vector<int> both{0, 1};
    g.repeat(static_cast<std::uint64_t>(rounds), [&](std::uint64_t /* round */) {
      g.for_mine(2, both, [&](int i) {
        if (i == 0) g.run(add_one, inout(first));
        else g.run(copy, in(first), out(second));
      });
    });
    g.bring(second);
    EXPECT_TRUE(g.wait());
    return *second;
  }
};

/// Else each message would wake the driver's thread. During long subtasks that thread is prompter.
TEST(repeat, has_a_worker_that_never_waits_watch_between_short_subtasks) {
  job two(2, 1, weather{});
  EXPECT_GT(two.root().run_on_all(never_waits{2000}), 0);
  EXPECT_EQ(two.root().run_on_all(never_waits{50, 1000}), 0);
}

/// Repeats subtasks that no for_mine() makes.
struct made_by_all {
  auto input() { return std::tie(); }
  bool run(team& all) const {
    team_graph g(all);
    auto d = g.make<value>(0);
    g.repeat(10, [&](std::uint64_t) { g.run([](value& to) { ++to; }, inout(d)); });
    return g.wait();
  }
};

TEST_P(team_of, repeats_only_what_for_mine_makes) {
  if (size == 1) EXPECT_TRUE(j.root().run_on_all(made_by_all{}));
  else EXPECT_THROW(j.root().run_on_all(made_by_all{}), std::logic_error);
}

}  // namespace
}  // namespace cleave::tests
