// Graphs of a team whose idle nodes are lent subtasks: what is lent, and what that costs.
#include "node/lending.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of, lending_shapes(), shape_name);

// ---- who runs what

/// All subtasks have their place on node 0, whose first one ends last. None of the others ends
/// there before another node has run one: the result does not depend on how soon that node asks.
struct is_held_up {
  int count = 0;
  auto input() { return std::tie(count); }
  std::vector<value> run(team& all) const {
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    auto start = g.make(0);
    std::vector<datum<value>> v;
    for (int i = 0; i < count; ++i) {
      v.push_back(g.make<value>(i));
      g.set_home(v.back(), 0);
    }
    g.run(
        [this](int&) {
          while (done < count) std::this_thread::yield();
        },
        out(start), on(0));
    for (const auto& d : v)
      g.run(
          [&all](value& x) {
            if (all.rank() != 0) ++lent;
            while (lent == 0) std::this_thread::yield();
            compute(50);
            x = mix(x), ++done;
          },
          inout(d));
    for (const auto& d : v) g.bring(d);
    g.wait();
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    return result;
  }
};

TEST_P(team_of, others_do_what_a_node_that_is_held_up_does_not) {
  if (size == 1) return;
  constexpr int count = 40;
  lent = 0;
  const auto result = j.root().run_on_all(is_held_up{count});
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(result[static_cast<std::size_t>(i)], mix(static_cast<value>(i)));
  // A worker of node 0 is held up, and others there may run what they like.
  if (GetParam().workers == 1) EXPECT_EQ(lent, count);
  else EXPECT_GT(lent, 0);
}

/// Without wait(): the graph's end is one.
struct ends_without_waiting {
  static constexpr int count = 20;
  bool has_waited = false;
  auto input() { return std::tie(has_waited); }
  void run(team& all) const {
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    if (has_waited) g.wait();
    auto start = g.make(0);
    g.run(
        [](int&) {
          while (done < count) std::this_thread::yield();
        },
        out(start), on(0));
    for (int i = 0; i < count; ++i) {
      auto d = g.make(0);
      g.set_home(d, 0);
      g.run([](int&) { compute(50), ++done; }, out(d));
    }
  }
};

TEST_P(team_of, the_end_of_a_graph_awaits_what_others_have_to_do) {
  for (const bool has_waited : {false, true}) j.root().run_on_all(ends_without_waiting{has_waited});
}

/// The program changes a datum that was lent before.
struct changes_what_was_lent {
  int rounds = 0;
  auto input() { return std::tie(rounds); }
  void run(team& all) const {
    constexpr int count = 4;
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    auto x = g.make<value>(0), start = g.make<value>(0);
    std::vector<datum<value>> seen;
    for (int i = 0; i < count; ++i) {
      seen.push_back(g.make<value>(0));
      g.set_home(seen.back(), 0);
    }
    for (int round = 0; round < rounds; ++round) {
      g.run(
          [=](value&) {
            while (done < (round + 1) * count) std::this_thread::yield();
          },
          out(start), on(0));
      for (const auto& d : seen)
        g.run([](const value& now, value& to) { compute(50), to = now, ++done; }, in(x), out(d));
      for (const auto& d : seen) g.bring(d);
      g.wait();
      for (const auto& d : seen)
        if (*d != static_cast<value>(round)) noted.add(all.rank(), "an old value");
      ++*x;  // on all nodes, which have it from the beginning
    }
  }
};

TEST_P(team_of, what_the_program_has_changed_is_lent) {
  j.root().run_on_all(changes_what_was_lent{3});
  EXPECT_TRUE(noted.all().empty());
}

/// There is nothing to lend for long, but then.
struct has_spare_later {
  static constexpr int count = 20;
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    auto start = g.make(0), end = g.make(0);
    g.run([](int&) { compute(20'000); }, out(start), on(0));
    g.run(
        [](const int&, int&) {
          while (done < count) std::this_thread::yield();
        },
        in(start), out(end), on(0));
    for (int i = 0; i < count; ++i) {
      auto d = g.make(0);
      g.set_home(d, 0);
      g.run(
          [&all](const int&, int&) {
            compute(50);
            ++done;
            if (all.rank() != 0) ++lent;
          },
          in(start), out(d));
    }
    g.wait();
  }
};

TEST_P(team_of, who_asked_in_vain_is_told_when_there_is_something) {
  if (size == 1 || GetParam().workers != 1) return;
  lent = 0;
  j.root().run_on_all(has_spare_later{});
  EXPECT_EQ(lent, has_spare_later::count);
}

/// Others have asked in vain before the first subtask is made. All are ready at once, and the first
/// that waits stays here. The worker that has made them begins one that ends when all others have.
struct makes_late {
  static constexpr int count = 6;
  int us = 0;  // how long each takes; 0: it is not worth lending
  auto input() { return std::tie(us); }
  void run(team& all) const {
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    if (all.rank() == 0) compute(10'000);
    auto held_up = g.make(0);
    g.run(
        [](int&) {
          while (done < count) std::this_thread::yield();
        },
        out(held_up), on(0));
    auto stays = g.make(0);
    g.run([](int&) {}, out(stays), on(0));
    for (int i = 0; i < count; ++i) {
      auto d = g.make(0);
      g.set_home(d, 0);
      g.run(
          [us = us](int&) {
            if (us != 0) compute(us);
            ++done;
          },
          out(d));
    }
    g.wait();
  }
};

TEST_P(team_of, what_is_made_within_a_pause_is_lent) {
  for (int i = 0; i < 10; ++i) j.root().run_on_all(makes_late{100});
}

TEST_P(team_of, what_waits_long_is_lent_even_if_it_was_not_worth_it) {
  j.root().run_on_all(makes_late{0});
}

/// A large datum that all read, and others that are changed again and again.
struct uses_large_data {
  static constexpr std::size_t length = 50'000;
  static constexpr int changed = 4, steps = 10;
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    auto shared = g.make(std::vector<int>(length, 1));
    auto gate = g.make(0);
    std::vector<datum<std::vector<int>>> own;
    for (int i = 0; i < changed; ++i) {
      own.push_back(g.make(std::vector<int>(length, 0)));
      g.set_home(own.back(), 0);
    }
    g.run(
        [](int&) {
          while (done < changed * steps) std::this_thread::yield();
        },
        out(gate), on(0));
    for (int step = 0; step < steps; ++step)
      for (const auto& d : own)
        g.run(
            [](const std::vector<int>& a, std::vector<int>& to) {
              compute(3000);
              for (std::size_t k = 0; k < length; ++k) to[k] += a[k];
              ++done;
            },
            in(shared), inout(d));
    g.wait();
    if (all.rank() == 0)
      for (const auto& d : own)
        if (*d != std::vector<int>(length, steps)) noted.add(0, "wrong");
  }
};

TEST(team, what_was_lent_keeps_its_data) {
  noted.clear();
  job j(2, 1);
  const auto sent = [&](unsigned rank) {
    return j.nodes[rank]->carried().sent_bytes / (uses_large_data::length * sizeof(int));
  };
  j.root().run_on_all(uses_large_data{});
  EXPECT_TRUE(noted.all().empty());
  EXPECT_LE(sent(0), uses_large_data::changed + 1u) << "each datum goes there once";
  EXPECT_EQ(sent(1), uses_large_data::changed * uses_large_data::steps);
}

/// What it writes goes to the lender, and from there on: to the one that has computed it, too.
struct passes_values_on {
  int steps = 0;
  auto input() { return std::tie(steps); }
  value run(team& all) const {
    team_graph g(all, dynamic);
    std::array<std::vector<datum<std::vector<value>>>, 2> rows;
    constexpr unsigned width = 12;
    for (auto& row : rows)
      for (unsigned i = 0; i < width; ++i) {
        row.push_back(g.make(std::vector<value>(100, i)));
        g.set_home(row.back(), i < 9 ? 0 : i % all.size());
      }
    for (int step = 0; step < steps; ++step)
      for (unsigned i = 0; i < width; ++i) {
        const auto &from = rows[step % 2], &to = rows[(step + 1) % 2];
        g.run(
            [i, &all](const std::vector<value>& left, const std::vector<value>& own,
                      std::vector<value>& next) {
              if (i < 9 && all.rank() != 0) ++lent;
              // Each subtask of node 0 waits until one is lent: until then there is one to lend.
              while (i < 9 && all.size() > 1 && lent == 0) std::this_thread::yield();
              compute(100);
              for (std::size_t k = 0; k < own.size(); ++k) next[k] = mix(own[k] + left[k]);
            },
            in(from[(i + width - 1) % width]), in(from[i]), out(to[i]));
      }
    const auto& row = rows[steps % 2];
    for (const auto& d : row) g.bring(d);
    EXPECT_TRUE(g.wait());
    value sum = 0;
    for (const auto& d : row)
      for (const value v : *d) sum = mix(sum + v);
    return sum;
  }
  value by_calls() const {
    std::vector<std::vector<value>> row;
    for (value i = 0; i < 12; ++i) row.emplace_back(100, i);
    for (int step = 0; step < steps; ++step) {
      const auto from = row;
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t k = 0; k < 100; ++k) row[i][k] = mix(from[i][k] + from[(i + 11) % 12][k]);
    }
    value sum = 0;
    for (const auto& d : row)
      for (const value v : d) sum = mix(sum + v);
    return sum;
  }
};

TEST_P(team_of, values_go_to_and_fro) {
  lent = 0;
  const passes_values_on p{12};
  EXPECT_EQ(j.root().run_on_all(p), p.by_calls());
  EXPECT_EQ(lent > 0, size > 1);
}

// ---- plans

struct has_a_plan {
  std::string plan;
  auto input() { return std::tie(plan); }
  value run(team& all) const {
    team_graph g(all, dynamic, plan);
    std::vector<datum<value>> v;
    for (int i = 0; i < 20; ++i) {
      v.push_back(g.make<value>(i));
      g.set_home(v.back(), 0);
    }
    for (int step = 0; step < 3; ++step)
      for (const auto& d : v)
        g.run(
            [&all](value& x) {
              compute(100);
              x = mix(x);
              if (all.rank() != 0) ++lent;
            },
            inout(d));
    for (const auto& d : v) g.bring(d);
    g.wait();
    value sum = 0;
    for (const auto& d : v) sum += *d;
    return sum;
  }
};

TEST_P(team_of, nothing_is_lent_while_a_plan_is_recorded) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  value expected = 0;
  for (value i = 0; i < 20; ++i) expected += mix(mix(mix(i)));
  lent = 0;
  EXPECT_EQ(j.root().run_on_all(has_a_plan{file}), expected);
  EXPECT_EQ(lent, 0);
  EXPECT_EQ(j.root().run_on_all(has_a_plan{file}), expected);
}

// ---- what it costs

/// Only one node has something to do, one subtask after the other.
struct has_nothing_to_lend {
  bool is_dynamic = false;
  auto input() { return std::tie(is_dynamic); }
  static void run(team_graph& g) {
    auto x = g.make(0);
    for (int i = 0; i < 100; ++i) g.run([](int&) { compute(1000); }, inout(x));
    g.wait();
  }
  void run(team& all) const {
    with_graph(all, is_dynamic, [](team_graph& g) { run(g); });
  }
};

/// Each asks each other one once for each wait, and at the end. Messages of the job itself come on
/// top, so many a second.
TEST(team, idle_nodes_are_silent) {
  constexpr unsigned size = 4;
  job j(size, 1);
  const auto sent_by = [&](bool is_dynamic) {
    const auto sent = [&] {
      std::int64_t all = 0;
      for (const auto& node : j.nodes) all += static_cast<std::int64_t>(node->carried().sent);
      return all;
    };
    const auto before = sent();
    j.root().run_on_all(has_nothing_to_lend{is_dynamic});
    return sent() - before;
  };
  std::int64_t least = 1000;
  for (int round = 0; round < 5 && least > 150; ++round)
    least = std::min(least, sent_by(true) - sent_by(false));
  EXPECT_LE(least, 150);
}

}  // namespace
}  // namespace cleave::tests
