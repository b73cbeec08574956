// Graphs of a team whose idle nodes are lent subtasks, and what goes wrong.
#include "node/lending.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of, lending_shapes(), shape_name);

/// Most of the subtasks are lent when one of them throws, or cancels, or its node leaves.
struct ends_early {
  enum : int { throws, cancels, leaves };
  int how = throws;
  unsigned who = 0;
  auto input() { return std::tie(how, who); }
  void run(team& all) const {
    team_graph g(all, dynamic);
    std::vector<datum<value>> v;
    for (int i = 0; i < 30; ++i) {
      v.push_back(g.make<value>(i));
      g.set_home(v.back(), 0);
    }
    for (int step = 0; step < 3; ++step)
      for (const auto& d : v)
        g.run(
            [&](value& x) {
              compute(100);
              x = mix(x);
              if (all.rank() != who) return;
              if (how == throws) throw std::range_error("early");
              if (how == cancels) g.cancel();
            },
            inout(d));
    if (how == leaves && all.rank() == who) {
      compute(1000);
      throw std::range_error("early");
    }
    if (!g.wait()) noted.add(all.rank(), "cancelled");
  }
};

TEST_P(team_of, nobody_waits_for_what_is_not_done) {
  for (int round = 0; round < 3; ++round)
    for (unsigned who = 0; who < size; ++who) {
      EXPECT_THROW(j.root().run_on_all(ends_early{ends_early::leaves, who}), std::range_error);
      noted.clear();
      // A node that is lent nothing does neither.
      try {
        j.root().run_on_all(ends_early{ends_early::throws, who});
      } catch (const std::range_error&) {}
      j.root().run_on_all(ends_early{ends_early::cancels, who});
      const auto all = noted.all();
      EXPECT_TRUE(all.empty() || all.size() == size);
    }
}

/// What a subtask throws elsewhere is thrown on all nodes, and the graph goes on with the values
/// from before it.
struct throws_elsewhere {
  int rounds = 0;
  auto input() { return std::tie(rounds); }
  void run(team& all) const {
    team_graph g(all, dynamic);
    std::vector<datum<value>> v;
    for (int i = 0; i < 20; ++i) {
      v.push_back(g.make<value>(0));
      g.set_home(v.back(), 0);
    }
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 20; ++i)
        g.run(
            [i, round](value& x) {
              compute(60);
              if (i == 17 && round % 2 == 0) throw std::range_error(std::to_string(round));
              ++x;
            },
            inout(v[static_cast<std::size_t>(i)]));
      try {
        g.wait();
        noted.add(all.rank(), "nothing");
      } catch (const std::range_error& e) { noted.add(all.rank(), e.what()); }
    }
    for (int i = 0; i < 17; ++i) g.bring(v[static_cast<std::size_t>(i)]);
    g.bring(v[17]);
    g.wait();
    for (std::size_t i = 0; i < 17; ++i)
      if (*v[i] != static_cast<value>(rounds)) noted.add(all.rank(), "wrong");
    if (*v[17] != static_cast<value>(rounds / 2)) noted.add(all.rank(), "wrong");
  }
};

TEST_P(team_of, a_graph_goes_on_after_an_exception_elsewhere) {
  constexpr int rounds = 6;
  std::vector<std::string> expected;
  for (int i = 0; i < rounds; ++i)
    expected.push_back(i % 2 == 0 ? std::to_string(i) : std::string("nothing"));
  j.root().run_on_all(throws_elsewhere{rounds});
  ASSERT_EQ(noted.all().size(), size);
  for (const auto& [rank, lines] : noted.all()) EXPECT_EQ(lines, expected) << rank;
}

/// Subtasks use constructs and graphs, whichever node they run on.
struct divides_inside {
  int count = 0;
  auto input() { return std::tie(count); }
  value run(team& all) const {
    team_graph g(all, dynamic);
    std::vector<datum<value>> v;
    for (int i = 0; i < count; ++i) {
      v.push_back(g.make<value>(i));
      g.set_home(v.back(), 0);
    }
    auto total = g.make<value>(0);
    for (const auto& d : v)
      g.run(
          [](value& x) {
            compute(100);
            graph inner;
            auto a = inner.make<value>(x), b = inner.make<value>(0);
            inner.run([](const value& from, value& to) { to = mix(from); }, in(a), out(b));
            inner.wait();
            x = *b + sum(0, 50, [](int k) { return poll(), static_cast<value>(k); });
          },
          inout(d));
    g.run(
        [](values<const value> all_of, value& to) {
          for (const value& x : all_of) to += x;
        },
        in(v), inout(total));
    g.bring(total);
    EXPECT_TRUE(g.wait());
    return *total;
  }
};

TEST_P(team_of, subtasks_divide_their_work_elsewhere) {
  constexpr int count = 24;
  value expected = 0;
  for (value i = 0; i < count; ++i) expected += mix(i) + 49 * 25;
  EXPECT_EQ(j.root().run_on_all(divides_inside{count}), expected);
}

struct is_not_dynamic_everywhere {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  static void run(team_graph& g) {
    auto x = g.make(0);
    g.run([](int& v) { ++v; }, inout(x));
    g.wait();
  }
  void run(team& all) const {
    with_graph(all, all.rank() == 0, [](team_graph& g) { run(g); });
  }
};

TEST_P(team_of, all_nodes_say_that_it_is_dynamic) {
  if (size == 1) return;
  EXPECT_THROW(j.root().run_on_all(is_not_dynamic_everywhere{}), std::logic_error);
}

}  // namespace
}  // namespace cleave::tests
