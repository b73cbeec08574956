// Graphs of a team that are planned anew while they run: whatever the plans, and whenever they
// come, the program computes what it computes if each run() is a call.
#include "node/team_of.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

using value = std::uint64_t;

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{2, 2, 100us},
                                         shape{3, 1, 200us}, shape{4, 1, 0us}, shape{5, 2, 0us}),
                         shape_name);

void spin(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {}
}

/// Some nodes are slower than others.
void work_for(int microseconds, unsigned rank) {
  spin(std::chrono::microseconds(microseconds * (rank == 1 ? 3 : 1)));
}

/// Steps that repeat, of random subtasks; now and then there is something else between them, and
/// after a third of the steps the steps are others.
struct repeated {
  std::uint64_t seed = 0;
  int steps = 60;
  int throws_in = -1, cancels_in = -1;  // steps
  auto input() { return std::tie(seed, steps, throws_in, cancels_in); }
  static constexpr std::size_t data = 10;
  static constexpr int in_step = 14;

  std::uint64_t draw(int step, int k, std::uint64_t what) const {
    const int kind = step * 3 / steps;
    return random_at(seed * 1'000'000 + static_cast<std::uint64_t>(kind * 10'000 + k * 100) + what);
  }
  std::size_t datum_of(int step, int k, std::uint64_t what) const {
    return (draw(step, k, 0) + what * (1 + draw(step, k, 1) % (data - 1))) % data;
  }
  static value after(value a, value b, value c) { return mix(a * 3 + mix(b) * 5 + c); }

  std::vector<value> by_calls(int all_steps) const {
    std::vector<value> v(data);
    value sum = 0;
    for (int step = 0; step < all_steps; ++step) {
      for (int k = 0; k < in_step; ++k) {
        value &a = v[datum_of(step, k, 0)], &b = v[datum_of(step, k, 1)];
        if (&a == &b) a = after(a, a, value(step));
        else a = after(a, b, value(step));
      }
      if (step % 7 == 0) sum += mix(v[0]);
    }
    v.push_back(sum);
    return v;
  }

  template <class Graph>
  void make_step(Graph& g, std::vector<datum<value>>& v, int step, const team& all) const {
    for (int k = 0; k < in_step; ++k) {
      const auto a = v[datum_of(step, k, 0)], b = v[datum_of(step, k, 1)];
      const bool throws = step == throws_in && k == in_step / 2;
      const int work = static_cast<int>(draw(step, k, 2) % 20);
      const auto does = [=, rank = all.rank()](value& x, value y) {
        if (throws) throw std::runtime_error("thrown");
        work_for(work, rank);
        x = after(x, y, value(step));
      };
      if (datum_of(step, k, 0) == datum_of(step, k, 1))
        g.run([=](value& x) { does(x, x); }, inout(a));
      else if (draw(step, k, 3) % 8 == 0)
        g.run([=](value& x, const value& y) { does(x, y); }, inout(a), in(b),
              on(static_cast<unsigned>(draw(step, k, 4)) % all.size()));
      else g.run([=](value& x, const value& y) { does(x, y); }, inout(a), in(b));
    }
    if (step % 7 == 0) {
      auto found = g.make(value{0});
      g.run([](const value& x, value& to) { to = mix(x); }, in(v[0]), out(found));
      g.run([](const value& x, value& to) { to += x; }, in(found), inout(v[data]));
    }
  }
  std::vector<value> run(team& all) const {
    team_graph g(all);
    std::vector<datum<value>> v;
    for (std::size_t k = 0; k <= data; ++k) v.push_back(g.make(value{0}));
    if (seed % 3 != 0)
      for (std::size_t k = 0; k < data; ++k) g.set_home(v[k], 0);  // a bad beginning
    if (seed % 2 == 1) g.earliest_first();
    g.replan_every(1 + static_cast<unsigned>(seed % 3));
    bool threw = false;
    for (int step = 0; step < steps; ++step) {
      if (step == cancels_in && all.rank() == all.size() - 1) g.cancel();
      make_step(g, v, step, all);
      if (seed % 4 == 3 && step % 9 == 0 && cancels_in < 0 && throws_in < 0) {
        EXPECT_TRUE(g.wait());
      }
    }
    for (auto d : v) g.bring(d);
    try {
      const bool whole = g.wait();
      EXPECT_EQ(whole, cancels_in < 0);
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::string("thrown"));
      threw = true;
    }
    EXPECT_EQ(threw, throws_in >= 0);
    if (cancels_in >= 0) return {};
    if (threw) {  // the graph goes on, with what is valid
      for (auto d : v) g.run([](value& x) { x = 1; }, out(d));
      for (auto d : v) g.bring(d);
      EXPECT_TRUE(g.wait());
      for (auto d : v) EXPECT_EQ(*d, 1u);
      return {};
    }
    std::vector<value> result;
    for (auto d : v) result.push_back(*d);
    if (result != by_calls(steps)) noted.add(all.rank(), "wrong");
    return result;
  }
};

TEST_P(team_of, repeated_steps_compute_what_calls_do) {
  // Many threads on few CPUs make messages slow.
  const std::uint64_t seeds = size * GetParam().workers > 4 ? 2 : 6;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const repeated p{seed};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls(p.steps)) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

// ---- plans come, and are left

/// All data are on node 0. After some steps others have them, too; then the steps change, and are
/// planned anew.
struct finds_other_nodes {
  int unused = 0;
  auto input() { return std::tie(unused); }
  static constexpr int columns = 8, most_steps = 20'000, every = 20;

  /// Steps until something runs elsewhere than on node 0; `reads` is how far away it reads.
  static bool run_steps(team_graph& g, unsigned rank, std::vector<datum<unsigned>>& v, int reads) {
    auto found = g.make(0);
    for (int step = 1; step <= most_steps; ++step) {
      for (int c = 0; c < columns; ++c)
        g.run(
            [rank](unsigned& ran_on, unsigned) {
              spin(20us);
              ran_on = rank;
            },
            inout(v[std::size_t(c)]), in(v[std::size_t((c + reads) % columns)]));
      if (step % every != 0) continue;
      g.run(
          [](values<const unsigned> all, int& of) {
            of = 0;
            for (unsigned ran_on : all) of += ran_on != 0;
          },
          in(v), out(found));
      g.bring(found);
      EXPECT_TRUE(g.wait());
      if (*found > 0) return true;
    }
    return false;
  }
  bool run(team& all) const {
    team_graph g(all);
    std::vector<datum<unsigned>> v;
    for (int c = 0; c < columns; ++c) {
      v.push_back(g.make(0u));
      g.set_home(v.back(), 0);
    }
    g.replan_every(5);
    if (all.size() == 1) return true;
    if (!run_steps(g, all.rank(), v, 1)) return false;
    for (auto each : v) g.set_home(each, 0);
    for (auto each : v) g.run([](unsigned& ran_on) { ran_on = 0; }, out(each), on(0));
    return run_steps(g, all.rank(), v, 3);
  }
};

TEST_P(team_of, subtasks_leave_a_node_that_has_all) {
  EXPECT_TRUE(j.root().run_on_all(finds_other_nodes{}));
}

/// Columns that wait for nothing but themselves, for some steps.
struct goes_step_by_step {
  int unused = 0;
  auto input() { return std::tie(unused); }
  static constexpr int columns = 6, steps = 5;

  int run(team& all) const {
    team_graph g(all);
    std::atomic<int> last_step = 0;
    std::atomic<bool> went_back = false;
    std::vector<datum<int>> v;
    for (int c = 0; c < columns; ++c) v.push_back(g.make(0));
    g.replan_every(3);
    for (int step = 0; step < steps; ++step)
      for (auto each : v)
        g.run(
            [&, step](int&) {
              if (last_step.exchange(step) > step) went_back = true;
            },
            inout(each));
    EXPECT_TRUE(g.wait());
    EXPECT_FALSE(went_back);
    return 0;
  }
};

TEST_P(team_of, what_is_farthest_from_the_next_plan_runs_first) {
  // With two workers one may begin a step while the other one ends the step before.
  if (GetParam().workers > 1) GTEST_SKIP();
  j.root().run_on_all(goes_step_by_step{});
}

struct refuses {
  int unused = 0;
  auto input() { return std::tie(unused); }
  int run(team& all) const {
    team_graph g(all);
    EXPECT_THROW(g.replan_every(0), std::invalid_argument);
    g.replan_every(3);
    EXPECT_THROW(g.replan_every(3), std::logic_error);
    return 0;
  }
};

TEST_P(team_of, a_graph_is_told_once_to_be_planned_anew) { j.root().run_on_all(refuses{}); }

TEST_P(team_of, an_exception_is_thrown_on_all_while_plans_change) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    repeated p{seed};
    p.throws_in = 10 + 7 * static_cast<int>(seed);
    j.root().run_on_all(p);
  }
}

TEST_P(team_of, a_cancellation_ends_all_while_plans_change) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    repeated p{seed};
    p.cancels_in = 10 + 7 * static_cast<int>(seed);
    j.root().run_on_all(p);
  }
}

}  // namespace
}  // namespace cleave::tests
