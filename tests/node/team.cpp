// labels: slow
// Tasks that all nodes run together, and graphs between them: several nodes in one process, over a
// network that delays. What takes long, or long to compile; the rest is in team_graph.cpp and
// team_refuses.cpp.
#include "graph/recorded_graph.hpp"
#include "node/team_of.hpp"
#include "temporary_folder.hpp"

#include <cleave/cleave.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

using value = std::uint64_t;

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{2, 2, 300us},
                                         shape{3, 1, 200us}, shape{5, 2, 0us}, shape{7, 1, 50us}),
                         shape_name);

// ---- the task

struct says_who_it_is {
  int n = 0;
  auto input() { return std::tie(n); }
  int run(team& all) {
    noted.add(all.rank(), std::to_string(all.size()) + " " + std::to_string(n));
    return n + 1;
  }
};

TEST_P(team_of, each_node_runs_its_copy) {
  for (int round = 0; round < 20; ++round) {
    noted.clear();
    EXPECT_EQ(j.root().run_on_all(says_who_it_is{round}), round + 1);
    const auto all = noted.all();
    ASSERT_EQ(all.size(), size);
    for (const auto& [rank, lines] : all)
      EXPECT_EQ(lines, std::vector{std::to_string(size) + " " + std::to_string(round)});
  }
}

// ---- graphs: a random program, and what it computes if each run() is a call

struct random_program {
  std::uint64_t seed = 0;
  int thrower = 1 << 30;  // some of the subtasks from that one on throw
  std::string plan = {};
  auto input() { return std::tie(seed, thrower, plan); }

  static constexpr int data = 10, subtasks = 250;

  std::uint64_t draw(int i, int what) const { return random_at(seed * 100'000 + i * 16 + what); }
  int datum_of(int i, int k) const { return static_cast<int>(draw(i, k) % data); }
  void may_throw(int i) const {
    if (i >= thrower && draw(i, 9) % 4 == 0)
      throw std::runtime_error("subtask " + std::to_string(i));
  }

  std::vector<value> by_calls() const {
    std::vector<value> v(data);
    for (int i = 0; i < subtasks; ++i) {
      value &a = v[datum_of(i, 0)], &b = v[datum_of(i, 1)], &c = v[datum_of(i, 2)];
      switch (draw(i, 8) % 6) {
        case 0: may_throw(i), b = mix(value{a} ^ draw(i, 3)) + b; break;
        case 1: {
          const value x = a, y = b;
          may_throw(i), c = mix(x + 3 * y);
        } break;
        case 2: may_throw(i), c = draw(i, 4); break;
        case 3: {
          const value x = a;
          may_throw(i), b += mix(x), c += draw(i, 6);
        } break;
        default: may_throw(i), b += draw(i, 5);
      }
    }
    return v;
  }

  std::vector<value> run(team& all) const {
    team_graph g(all, plan);
    std::vector<datum<value>> v;
    for (int i = 0; i < data; ++i) {
      v.push_back(g.make<value>(0));
      if (draw(i, 10) % 3 == 0)
        g.set_home(v.back(), static_cast<unsigned>(draw(i, 11)) % all.size());
    }
    subtask before;
    for (int i = 0; i < subtasks; ++i) {
      const auto a = v[datum_of(i, 0)], b = v[datum_of(i, 1)], c = v[datum_of(i, 2)];
      const auto x = draw(i, 3), y = draw(i, 4), z = draw(i, 5), w = draw(i, 6);
      const unsigned there = static_cast<unsigned>(draw(i, 12)) % all.size();
      switch (draw(i, 8) % 6) {
        case 0:
          before =
              g.run([=, *this](const value& r,
                               value& s) { disturb(x), may_throw(i), s = mix(value{r} ^ x) + s; },
                    in(a), inout(b));
          break;
        case 1:
          before = g.run(
              [=, *this](const value& r, const value& s, value& t) {
                const value p = r, q = s;
                disturb(y), may_throw(i), t = mix(p + 3 * q);
              },
              in(a), in(b), out(c), on(there));
          break;
        case 2: g.run([=, *this](value& t) { may_throw(i), t = y; }, out(c), after(before)); break;
        case 3:
          // What is read and added to by one: there is no order in which others could add.
          if (datum_of(i, 0) == datum_of(i, 1) || datum_of(i, 0) == datum_of(i, 2))
            g.run(
                [=, *this](value& r, value& s, value& t) {
                  may_throw(i);
                  s += mix(value{r}), t += w;
                },
                inout(a), inout(b), inout(c));
          else
            g.run([=, *this](const value& r, value& s,
                             value& t) { may_throw(i), s += mix(r), disturb(w), t += w; },
                  in(a), add(b), add(c), on(there));
          break;
        default:
          g.run([=, *this](value& s) { disturb(w), may_throw(i), s += z; }, add(b), after(before));
      }
    }
    for (auto d : v) g.bring(d);
    try {
      EXPECT_TRUE(g.wait());
    } catch (const std::runtime_error& e) {
      noted.add(all.rank(), e.what());
      throw;
    }
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    if (result != by_calls()) noted.add(all.rank(), "wrong");
    return result;
  }
};

TEST_P(team_of, random_programs) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const random_program p{seed};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

TEST_P(team_of, random_programs_by_a_plan) {
  const temporary_folder folder;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto file = (folder.path / std::to_string(seed)).string();
    const random_program p{seed, 1 << 30, file};
    for (const char* run : {"recorded", "planned", "planned again"})
      EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << run << ", seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
    const auto g = detail::read_recorded_graph(file);
    EXPECT_EQ(g.subtasks.size(), static_cast<std::size_t>(random_program::subtasks));
    EXPECT_EQ(g.nodes, size);
    EXPECT_EQ(g.workers, GetParam().workers);
    for (const auto& s : g.subtasks) EXPECT_GT(s.duration, 0);
    for (const double bytes : g.bytes) EXPECT_EQ(bytes, sizeof(value));
  }
}

/// The work is where the plan finds it: all data have their home on node 0.
struct all_at_one_home {
  std::string plan;
  int subtasks = 0;
  auto input() { return std::tie(plan, subtasks); }
  /// Where each of them ran.
  std::vector<int> run(team& all) const {
    team_graph g(all, plan);
    std::vector<datum<int>> done;
    for (int i = 0; i < subtasks; ++i) {
      done.push_back(g.make<int>(-1));
      g.set_home(done.back(), 0);
      g.run(
          "slow",
          [r = all.rank()](int& at) {
            std::this_thread::sleep_for(1ms);
            at = static_cast<int>(r);
          },
          out(done.back()));
    }
    for (auto each : done) g.bring(each);
    g.wait();
    std::vector<int> ranks;
    for (auto each : done) ranks.push_back(*each);
    return ranks;
  }
};

TEST_P(team_of, a_plan_deals_the_work_to_all_nodes) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  constexpr int subtasks = 60;
  const all_at_one_home program{file, subtasks};
  EXPECT_EQ(j.root().run_on_all(program), std::vector<int>(subtasks, 0));
  // Shares are equal as recorded: on a busy machine a subtask may have taken several times as long.
  const auto g = detail::read_recorded_graph(file);
  const auto ranks = j.root().run_on_all(program);
  ASSERT_EQ(g.subtasks.size(), ranks.size());
  std::vector<double> work(size), durations;
  double all = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    durations.push_back(g.subtasks[i].duration);
    work[static_cast<std::size_t>(ranks[i])] += durations.back();
    all += durations.back();
  }
  std::sort(durations.begin(), durations.end());
  const double share = all / size;
  // Three usual subtasks, or by how much the longest one is more than a share.
  const double off = std::max(3 * durations[durations.size() / 2], durations.back() - share);
  for (const double of_node : work) EXPECT_NEAR(of_node, share, off);
}

/// Steps that are alike, all of whose data have their home on node 0.
struct steps_at_one_home {
  std::string plan;
  int steps = 0;
  auto input() { return std::tie(plan, steps); }
  static constexpr int data = 24;
  int run(team& all) const {
    team_graph g(all, plan);
    std::vector<datum<int>> at;
    for (int i = 0; i < data; ++i) at.push_back(g.make<int>(-1)), g.set_home(at.back(), 0);
    for (int step = 0; step < steps; ++step)
      for (auto each : at)
        g.run(
            "slow",
            [r = all.rank()](int& ran_on) {
              std::this_thread::sleep_for(500us);
              ran_on = static_cast<int>(r);
            },
            inout(each));
    for (auto each : at) g.bring(each);
    g.wait();
    return static_cast<int>(std::count_if(at.begin(), at.end(), [](auto d) { return *d != 0; }));
  }
};

TEST_P(team_of, what_comes_after_a_plan_runs_where_it_has_left_the_data) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  EXPECT_EQ(j.root().run_on_all(steps_at_one_home{file, 3}), 0);
  constexpr int data = steps_at_one_home::data;
  EXPECT_NEAR(j.root().run_on_all(steps_at_one_home{file, 9}), data - data / static_cast<int>(size),
              3);
}

TEST_P(team_of, a_plan_of_another_graph_is_followed_as_far_as_it_is_the_same) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  const random_program recorded{1, 1 << 30, file}, other{2, 1 << 30, file};
  j.root().run_on_all(recorded);
  EXPECT_EQ(j.root().run_on_all(other), other.by_calls());
  j.root().run_on_all(all_at_one_home{file, 400});
  EXPECT_TRUE(noted.all().empty());
}

TEST_P(team_of, the_exception_is_the_one_of_the_program_by_calls) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    noted.clear();
    const random_program p{seed, static_cast<int>(7 * seed)};
    std::string expected;
    try {
      p.by_calls();
    } catch (const std::runtime_error& e) { expected = e.what(); }
    try {
      j.root().run_on_all(p);
      ADD_FAILURE() << "nothing was thrown, seed " << seed;
    } catch (const std::runtime_error& e) { EXPECT_EQ(e.what(), expected) << "seed " << seed; }
    for (const auto& [rank, lines] : noted.all())
      EXPECT_EQ(lines, std::vector{expected}) << "node " << rank << ", seed " << seed;
  }
}

/// Waits several times, and makes graphs one after the other and two at once.
struct many_graphs {
  int rounds = 0;
  auto input() { return std::tie(rounds); }
  value run(team& all) const {
    value sum = 0;
    for (int round = 0; round < rounds; ++round) {
      team_graph g(all), h(all);
      auto x = g.make<value>(round), y = h.make<value>(1);
      for (int i = 0; i < 10; ++i) {
        const auto where = on(static_cast<unsigned>(i) % all.size());
        g.run([](value& v) { v += 1; }, inout(x), where);
        h.run([](value& v) { v *= 2; }, inout(y), where);
        if (i == 4) { EXPECT_TRUE(g.wait()); }
      }
      h.bring(y), g.bring(x);
      EXPECT_TRUE(h.wait());
      EXPECT_TRUE(g.wait());
      sum += *x + *y;
    }
    return sum;
  }
};

TEST_P(team_of, many_graphs) {
  EXPECT_EQ(j.root().run_on_all(many_graphs{20}), 20 * (10 + 1024) + 19 * 20 / 2);
}

// ---- where things are

std::atomic<int> at_once{0};

/// A value that is read on node 2 as soon as it can be, which may not have begun.
struct sends_at_once {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([n = n](int& v) { v = n; }, out(x), on(1));
    g.run(
        [n = n](const int& v) {
          if (v == n) ++at_once;
        },
        in(x), on(2));
    g.wait();
  }
};

TEST(team, a_value_for_a_node_that_has_not_begun) {
  weather w;
  w.delay = 3000us;
  job j(3, 1, w);
  at_once = 0;
  for (int round = 0; round < 40; ++round) j.root().run_on_all(sends_at_once{round});
  EXPECT_EQ(at_once, 40);
}

/// The worker that makes the graph on node 1 is busy until another one there has run what needs a
/// value of node 0.
struct needs_an_idle_worker {
  int unused = 0;
  auto input() { return std::tie(unused); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([](int& v) { std::this_thread::sleep_for(500us), v = 1; }, out(x), on(0));
    g.run([](const int& v) { at_once = v; }, in(x), on(1));
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (all.rank() == 1 && at_once == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    if (all.rank() == 1 && at_once == 0) noted.add(1, "nobody ran it");
    g.wait();
  }
};

TEST(team, an_idle_worker_runs_what_has_come) {
  noted.clear();
  job j(2, 2);
  for (int round = 0; round < 20 && noted.all().empty(); ++round) {
    at_once = 0;
    j.root().run_on_all(needs_an_idle_worker{});
  }
  EXPECT_TRUE(noted.all().empty());
}

// ---- what goes wrong

/// Adds one so often, on each node in turn.
void count_up(team_graph& g, datum<int> x, unsigned times, const team& all) {
  for (unsigned i = 0; i < times; ++i) g.run([](int& v) { ++v; }, inout(x), on(i % all.size()));
}

struct throws_on_one {
  unsigned rank = 0;
  int where = 0;
  auto input() { return std::tie(rank, where); }
  int run(team& all) const {
    if (where == 0 && all.rank() == rank) throw std::length_error("at the beginning");
    team_graph g(all);
    auto x = g.make(0);
    count_up(g, x, 50, all);
    if (where == 1 && all.rank() == rank) throw std::length_error("between");
    count_up(g, x, 50, all);
    g.wait();
    if (where == 2 && all.rank() == rank) throw std::length_error("after it");
    auto y = g.make(0);
    count_up(g, y, 100, all);
    g.bring(y);
    g.wait();
    return *y;
  }
};

TEST_P(team_of, an_exception_of_one_node_ends_all) {
  for (unsigned rank = 0; rank < size; ++rank)
    for (int where = 0; where < 3; ++where)
      EXPECT_THROW(j.root().run_on_all(throws_on_one{rank, where}), std::length_error)
          << "node " << rank << ", place " << where;
  EXPECT_EQ(j.root().run_on_all(throws_on_one{0, 4}), 100);
}

/// Travels, but is made again of what it does not take.
struct picky : std::runtime_error {
  explicit picky(int of) : std::runtime_error("picky"), n(of) {
    if (n > 0) throw std::domain_error("not made again");
  }
  picky(int of, bool) : std::runtime_error("picky"), n(of) {}
  auto input() { return std::tie(n); }
  int n;
};
const travels<picky> picky_travels;

enum class ends { after_all, without_a_subtask, without_a_wait, after_two_waits };
struct ends_early {
  int how = 0;
  bool first = false;  // who does: the first node, or the last one
  auto input() { return std::tie(how, first); }
  void run(team& all) const {
    const bool other = all.rank() == (first ? 0 : all.size() - 1);
    make(all, other ? static_cast<ends>(how) : ends::after_all);
    team_graph h(all);
    h.wait();
  }
  static void make(team& all, ends by) {
    team_graph g(all);
    if (by == ends::without_a_subtask) return;
    auto x = g.make(0);
    for (unsigned k = 0; k < 2 * all.size(); ++k)
      g.run([](int& v) { ++v; }, inout(x), on(k % all.size()));
    g.bring(x);
    if (by == ends::without_a_wait) return;
    try {
      g.wait();
      if (by == ends::after_two_waits) g.wait();
      noted.add(all.rank(), std::to_string(*x));
    } catch (const std::logic_error&) { noted.add(all.rank(), "different"); }
  }
};

TEST_P(team_of, a_graph_that_not_all_nodes_wait_for) {
  if (size == 1) return;
  for (int round = 0; round < 20; ++round)
    for (const bool first : {false, true})
      for (int how = 0; how < 4; ++how) {
        noted.clear();
        j.root().run_on_all(ends_early{how, first});
        for (const auto& [rank, lines] : noted.all()) {
          const bool other = rank == (first ? 0 : size - 1);
          const bool whole = how == 0 || (how == 3 && !other);
          EXPECT_EQ(lines, std::vector{whole ? std::to_string(2 * size) : "different"})
              << how << first << ' ' << rank;
        }
      }
}

struct makes_fewer {
  unsigned who = 0;
  int graphs = 0;
  std::string plan;
  auto input() { return std::tie(who, graphs, plan); }
  void run(team& all) const {
    for (int i = 0; i < 2; ++i) {
      if (all.rank() == who && i == graphs) return;
      team_graph g(all, plan);
      auto x = g.make(0);
      g.run([](int& v) { ++v; }, inout(x), on(1));
      g.bring(x);
      g.wait();
    }
  }
};

TEST_P(team_of, a_graph_that_not_all_nodes_make) {
  if (size == 1) return;
  const temporary_folder folder;
  for (int round = 0; round < 20; ++round)
    for (const unsigned who : {0u, 1u, size - 1})
      for (const int graphs : {0, 1}) {
        const auto plan = (folder.path / std::to_string(round)).string();
        try {
          j.root().run_on_all(makes_fewer{who, graphs, round % 2 == 0 ? "" : plan});
          ADD_FAILURE() << "nobody has noticed it";
        } catch (const std::logic_error& e) {
          EXPECT_STREQ(e.what(),
                       "cleave::team_graph: the nodes have made different numbers of graphs");
        }
      }
}

struct made_elsewhere {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    std::atomic<int> is{0};
    task_group others;
    others.spawn([&] {
      try {
        team_graph g(all);
        is = 1;
      } catch (const std::logic_error&) { is = 2; }
    });
    while (is == 0) {}  // another worker runs it
    EXPECT_EQ(is, 2);
    others.wait();
  }
};

TEST_P(team_of, a_graph_is_made_where_the_task_began) {
  if (size > 1 && GetParam().workers > 1) j.root().run_on_all(made_elsewhere{});
}

struct made_in_a_subtask {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([&all](int&) { team_graph inner(all); }, inout(x), on(all.size() - 1));
    EXPECT_THROW(g.wait(), std::logic_error);
    team_graph after_it(all);
    EXPECT_TRUE(after_it.wait());
  }
};

TEST_P(team_of, no_graph_is_made_in_a_subtask_of_one) {
  if (size > 1) j.root().run_on_all(made_in_a_subtask{});
}

struct throws_picky {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([](int&) { throw picky(1, false); }, inout(x), on(1));
    try {
      g.wait();
    } catch (const picky&) {
      return noted.add(all.rank(), "picky");
    } catch (const std::domain_error&) { return noted.add(all.rank(), "cannot be made"); }
    noted.add(all.rank(), "nothing");
  }
};

TEST_P(team_of, an_exception_that_cannot_be_made_again) {
  if (size == 1) return;
  j.root().run_on_all(throws_picky{});
  const auto all = noted.all();
  ASSERT_EQ(all.size(), size);
  for (const auto& [rank, lines] : all)
    EXPECT_EQ(lines, std::vector<std::string>{rank == 1 ? "picky" : "cannot be made"}) << rank;
}

struct cancels {
  unsigned rank = 0;
  auto input() { return std::tie(rank); }
  int run(team& all) const {
    {
      team_graph g(all);
      auto x = g.make(0);
      for (unsigned i = 0; i < 200; ++i) {
        g.run([](int& v) { ++v, disturb(static_cast<std::uint64_t>(v)); }, inout(x),
              on(i % all.size()));
        if (i == 100 && all.rank() == rank) g.cancel();
      }
      EXPECT_FALSE(g.wait());
    }
    team_graph h(all);
    auto y = h.make(0);
    count_up(h, y, 20, all);
    h.bring(y);
    EXPECT_TRUE(h.wait());
    return *y;
  }
};

TEST_P(team_of, one_node_cancels_a_graph) {
  for (unsigned rank = 0; rank < size; ++rank) EXPECT_EQ(j.root().run_on_all(cancels{rank}), 20);
}

struct goes_on_until_cancelled {
  int unused = 0;
  auto input() { return std::tie(unused); }
  int run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    for (int round = 0;; ++round) {
      count_up(g, x, 1000, all);
      if (round == 1) noted.add(all.rank(), "under way");
      g.wait();
    }
  }
};

TEST_P(team_of, cancelled_from_outside) {
  cancel_scope scope;
  std::thread canceller([&] {
    while (noted.all().size() < size) std::this_thread::sleep_for(100us);
    scope.cancel();
  });
  EXPECT_FALSE(scope.run([&] { j.root().run_on_all(goes_on_until_cancelled{}); }));
  canceller.join();
  EXPECT_EQ(j.root().run_on_all(says_who_it_is{1}), 2);
}

/// Node 1 takes part until its death.
struct survives {
  unsigned all_there_were = 0;
  auto input() { return std::tie(all_there_were); }
  value run(team& all) const {
    team_graph g(all);
    auto x = g.make<value>(0);
    for (unsigned i = 0; i < 300; ++i) {
      if (i == 150) noted.add(all.rank(), all.size() == all_there_were ? "half" : "again");
      const bool waits = i == 150 && all.size() == all_there_were;
      g.run(
          [=](value& v) {
            v = mix(v + i);
            while (waits) poll();
          },
          inout(x), on(i % all.size()));
    }
    g.bring(x);
    g.wait();
    return *x;
  }
};

TEST_P(team_of, a_lost_node) {
  if (size == 1) return;
  value expected = 0;
  for (unsigned i = 0; i < 300; ++i) expected = mix(expected + i);
  std::thread killer([&] {
    while (noted.all().size() < size) std::this_thread::sleep_for(100us);
    j.network.kill(size - 1, true);
  });
  EXPECT_EQ(j.root().run_on_all(survives{size}), expected);
  killer.join();
  EXPECT_EQ(j.root().run_on_all(says_who_it_is{1}), 2);
}

// ---- with the other ways to run

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}
struct divides_in_subtasks {
  int n = 0;
  auto input() { return std::tie(n); }
  long run(team& all) const {
    team_graph g(all);
    auto sum = g.make(0L);
    for (unsigned i = 0; i < 2 * all.size(); ++i) {
      auto part = g.make(0L);
      g.run([n = n](long& v) { v = fib(n); }, out(part));
      g.run([](const long& v, long& s) { s += v; }, in(part), add(sum));
    }
    g.bring(sum, 0);
    g.wait();
    return all.rank() == 0 ? *sum : 0;
  }
};

TEST_P(team_of, constructs_inside_and_other_runs_between) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(j.root().run_on_all(divides_in_subtasks{12}), 2 * size * 144);
    EXPECT_EQ(j.root().run([] { return fib(15); }), 610);
  }
}

}  // namespace
}  // namespace cleave::tests
