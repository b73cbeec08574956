// What planning a running graph stands on, without a network: roles and steps, marks, and
// placements that follow a load which moves over 16 nodes of the model.
#include "core/requests.hpp"
#include "graph/improved.hpp"
#include "graph/progress.hpp"
#include "graph/recorder.hpp"
#include "graph/replanner.hpp"
#include "graph/role_times.hpp"
#include "graph/roles.hpp"
#include "sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace cleave::detail {
namespace {

constexpr auto in = access_mode::in, out = access_mode::out, inout = access_mode::inout;

// ---- roles and steps

struct some_data {
  explicit some_data(std::uint32_t n) : all(n) {
    for (std::uint32_t i = 0; i < n; ++i) all[i].place.number = i;
  }
  std::vector<any_datum> all;
};

/// Makes subtasks, and keeps the roles of each step.
struct made_steps {
  void run(std::vector<datum_use> uses, std::optional<unsigned> asked = {}) {
    const std::uint32_t role = of.next(uses, asked);
    if (of.began_step()) steps.emplace_back();
    steps.back().push_back(role);
  }
  roles of;
  std::vector<std::vector<std::uint32_t>> steps{{}};
};

TEST(roles, of_sweeps_in_place_are_found_at_once) {
  some_data d(6);
  made_steps m;
  for (int step = 0; step < 5; ++step)
    for (std::size_t i = 1; i < 5; ++i)
      m.run({{&d.all[i - 1], in}, {&d.all[i], inout}, {&d.all[i + 1], in}});
  // The first use of a datum is none of its further ones: the first sweep is another step.
  ASSERT_EQ(m.steps.size(), 4u);
  for (std::size_t s = 1; s < 4; ++s) EXPECT_EQ(m.steps[s], (std::vector(m.steps[1]))) << s;
  EXPECT_EQ(m.steps[1].size(), 4u);
}

TEST(roles, of_two_rows_that_take_turns_make_one_step_of_two_sweeps) {
  some_data d(8);
  made_steps m;
  for (std::size_t step = 0; step < 20; ++step)
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t from = step % 2 * 4, to = 4 - from;
      m.run({{&d.all[from + i], in}, {&d.all[from + (i + 1) % 4], in}, {&d.all[to + i], out}});
    }
  for (std::size_t s = 1; s + 1 < m.steps.size(); ++s) {
    EXPECT_EQ(m.steps[s].size(), 8u) << s;
    EXPECT_EQ(m.steps[s], m.steps[1]) << s;
  }
}

// As molecular dynamics: lists are made every third step, something new is measured every fifth.
TEST(roles, are_the_same_whatever_comes_between_steps) {
  some_data d(40);
  made_steps m;
  std::size_t found = 10;
  std::set<std::uint32_t> of_force, of_measure;
  for (int step = 0; step < 30; ++step) {
    for (std::size_t i = 0; i < 4; ++i) m.run({{&d.all[i], inout}, {&d.all[4 + i], out}});
    if (step % 3 == 0)
      for (std::size_t i = 0; i < 4; ++i) m.run({{&d.all[i], inout}, {&d.all[4], in}});
    m.run({{&d.all[5], in}, {&d.all[0], inout}, {&d.all[9], inout}});
    if (step > 0) of_force.insert(m.steps.back().back());
    if (step % 5 != 4) continue;
    m.run({{&d.all[0], in}, {&d.all[found++], out}});
    of_measure.insert(m.steps.back().back());
    EXPECT_TRUE(m.of.at(m.steps.back().back()).stays);
  }
  EXPECT_EQ(of_force.size(), 1u);
  EXPECT_EQ(of_measure.size(), 1u);
  EXPECT_GE(m.steps.size(), 29u);
  EXPECT_LE(m.steps.size(), 40u);
}

TEST(roles, that_were_told_where_to_run_stay) {
  some_data d(1);
  made_steps m;
  m.run({{&d.all[0], inout}});
  m.run({{&d.all[0], inout}});
  m.run({{&d.all[0], inout}}, 1u);
  m.run({});
  const auto& last = m.steps.back();
  EXPECT_TRUE(m.of.at(m.steps[0][0]).stays);  // a new datum
  EXPECT_FALSE(m.of.at(m.steps[0][1]).stays);
  EXPECT_TRUE(m.of.at(last[last.size() - 2]).stays);
  EXPECT_TRUE(m.of.at(last.back()).stays);
}

TEST(roles, of_different_uses_are_different) {
  some_data d(8);
  roles of;
  for (any_datum& a : d.all) of.next(std::vector<datum_use>{{&a, inout}}, {});
  std::set<std::uint32_t> all;
  const std::vector<std::optional<unsigned>> ranks{std::nullopt, 0, 1, 2, 3, 4, 5, 6, 7};
  for (any_datum& a : d.all)
    for (const auto mode : {in, out, inout})
      for (const auto asked : ranks) all.insert(of.next(std::vector<datum_use>{{&a, mode}}, asked));
  EXPECT_EQ(all.size(), d.all.size() * 3 * ranks.size());
}

TEST(roles, forget_what_was_late_for_a_reason_of_its_own) {
  role r;
  double now = 1000;
  const auto run = [&](double time) {
    r.begins(), r.ran(now, now + time);
    now += 100;
  };
  for (int i = 0; i < 20; ++i) run(50);
  EXPECT_FLOAT_EQ(r.time, 50);
  EXPECT_FLOAT_EQ(r.interval, 100);
  run(50'000);
  EXPECT_LE(r.time, 50 + 150 / 4.0 + 1);
  EXPECT_LE(r.interval, 100 + 300 / 4.0 + 1);
  for (int i = 0; i < 30; ++i) run(80);
  EXPECT_NEAR(r.time, 80, 1);
}

TEST(steps, of_which_the_last_whole_ones_are_kept) {
  last_steps s;
  EXPECT_EQ(s.count(), 0u);
  for (std::uint32_t step = 0; step < 50; ++step) {
    for (std::uint32_t k = 0; k < 10; ++k) s.add(k + 1, step, k == 0);
    EXPECT_LE(s.whole().size(), 50u);
  }
  ASSERT_EQ(s.whole().size(), s.count() * 10);
  EXPECT_GE(s.count(), 4u);
  EXPECT_EQ(s.length(), 10u);
  EXPECT_EQ(s.whole().back().ran_on, 48u);  // the last step is not whole
  EXPECT_EQ(s.whole().front().role, 1u);
}

// ---- when to look

TEST(pace, tells_steps_that_take_longer_than_they_did) {
  step_pace p(20);
  std::uint64_t step = 0;
  double now = 0;
  const auto slower_of = [&](int steps, double each) {
    int found = 0;
    for (int i = 0; i < steps; ++i, now += each) found += p.is_slower(step++, now);
    return found;
  };
  EXPECT_EQ(slower_of(200, 100), 0);
  EXPECT_EQ(slower_of(200, 115), 0) << "a busy machine";
  EXPECT_GE(slower_of(60, 140), 1);
  p.forget();
  EXPECT_EQ(slower_of(200, 140), 0) << "what is usual has been learnt anew";
  EXPECT_EQ(slower_of(1, 50'000), 0);
  EXPECT_EQ(slower_of(20, 140), 1) << "the long one was among these";
}

// A plan for a load that is still gains nothing, so the planner looks ever later, until steps take
// longer.
TEST(replanner, looks_soon_when_steps_take_longer) {
  constexpr std::uint64_t every = 20;
  some_data d(4);
  roles known;
  replanner planner(machine_model{}, every, known);
  role_times times(known);
  double now = recorder::now() + 1e9;  // thinking has long ago been paid for
  // Makes steps until it looks, but not more than so many. Returns whether it does.
  const auto looks_within = [&](std::uint64_t steps, double each, std::chrono::milliseconds rest) {
    for (std::uint64_t i = 0; i < steps; ++i, now += each, std::this_thread::sleep_for(rest))
      for (any_datum& datum : d.all) {
        const std::array uses{datum_use{&datum, inout}};
        const std::uint32_t role = known.next(uses, {});
        planner.steps.add(role, 0, known.began_step());
        times.run(role, [ends = recorder::now() + 1] {
          while (recorder::now() < ends) {}
        });
        if (!known.began_step() || !planner.asks(known.step(), now)) continue;
        std::vector<std::byte> report;
        byte_writer w(report);
        times.put_report(w);
        planner.report(std::move(report));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the planner thinks
        return true;
      }
    return false;
  };
  // The planner looks twice as late each time: 2560 steps after it has looked, or more.
  while (looks_within(2000, 100, std::chrono::milliseconds(0))) {}
  EXPECT_TRUE(looks_within(500, 140, std::chrono::milliseconds(2)));
}

// ---- marks

TEST(progress, passes_each_mark_once) {
  progress p;
  EXPECT_EQ(p.mark(10), std::optional<std::uint64_t>(10));  // nothing was to run here
  for (int i = 0; i < 3; ++i) p.runs_here();
  EXPECT_EQ(p.mark(20), std::nullopt);
  p.runs_here();
  EXPECT_EQ(p.mark(30), std::nullopt);
  EXPECT_EQ(p.ran(), std::nullopt);
  EXPECT_EQ(p.ran(), std::nullopt);
  EXPECT_EQ(p.ran(), std::optional<std::uint64_t>(20));
  EXPECT_EQ(p.ran(), std::optional<std::uint64_t>(30));
  EXPECT_EQ(p.mark(40), std::optional<std::uint64_t>(40));
}

TEST(progress, of_two_threads_passes_the_last_mark) {
  for (int round = 0; round < 200; ++round) {
    progress p;
    std::atomic<std::uint64_t> passed{0};
    std::atomic<int> made{0};
    const auto pass = [&](std::optional<std::uint64_t> mark) {
      for (std::uint64_t known = passed; mark && known < *mark;)
        if (passed.compare_exchange_weak(known, *mark)) break;
    };
    constexpr int all = 64;
    std::thread runs([&] {
      for (int ran = 0; ran < all; ++ran) {
        while (made.load() <= ran) std::this_thread::yield();
        pass(p.ran());
      }
    });
    for (std::uint64_t i = 1; i <= all; ++i) {
      p.runs_here(), made.fetch_add(1);
      pass(p.mark(i));
    }
    runs.join();
    EXPECT_EQ(passed.load(), std::uint64_t{all});
  }
}

// ---- placements

/// Some steps of a stencil over a square of cells, with a dense drop that goes from one corner to
/// the other.
struct moving_drop {
  static constexpr std::uint32_t side = 24, nodes = 16;
  static constexpr int steps = 240;

  static double time_of(std::uint32_t x, std::uint32_t y, int step) {
    const double at = side * step / double(steps), dx = x - at, dy = y - at;
    return 20 * (1 + 12 * std::exp(-(dx * dx + dy * dy) / 18));
  }
  static recorded_graph steps_from(int first, int count, const std::vector<std::uint32_t>& place) {
    recorded_graph g;
    g.nodes = nodes, g.names = {"cell"}, g.bytes.resize(2 * side * side, 1000);
    for (int step = first; step < first + count; ++step)
      for (std::uint32_t y = 0; y < side; ++y)
        for (std::uint32_t x = 0; x < side; ++x) {
          const std::uint32_t from = step % 2 * side * side, to = side * side - from;
          const auto cell = [](std::uint32_t i, std::uint32_t j) {
            return (j + side) % side * side + (i + side) % side;
          };
          for (const std::uint32_t c :
               {cell(x, y), cell(x + 1, y), cell(x - 1, y), cell(x, y + 1), cell(x, y - 1)})
            g.uses.push_back({from + c, in});
          g.uses.push_back({to + cell(x, y), out});
          g.subtasks.push_back({0, recorded_graph::any_rank, place[to + cell(x, y)],
                                static_cast<std::uint32_t>(g.uses.size()), 0, time_of(x, y, step)});
        }
    return g;
  }
  /// Squares of equal size, both rows of data alike.
  static std::vector<std::uint32_t> squares() {
    std::vector<std::uint32_t> place;
    for (std::uint32_t i = 0; i < 2 * side * side; ++i)
      place.push_back(i % side / 6 + i / side % side / 6 * 4);
    return place;
  }
};

TEST(improved, follows_a_drop_that_moves_over_16_nodes) {
  if (tests::sanitized)
    GTEST_SKIP() << "one thread computes for minutes; the other tests look at the same code";
  machine_model on{moving_drop::nodes, 1, {{2, 2e-4}, {10, 1e-4}, {2, 2e-4}}};
  constexpr int every = 10, seen = 4;
  auto first = moving_drop::squares(), anew = first;
  double by_homes = 0, by_first_plan = 0, planned_anew = 0;
  const auto time = [&](int step, const std::vector<std::uint32_t>& place) {
    const auto g = moving_drop::steps_from(step, every, place);
    std::vector<std::uint32_t> ranks;
    for (const auto& s : g.subtasks) ranks.push_back(s.ran_on);
    return simulated(g, on, ranks);
  };
  for (int step = 0; step + every <= moving_drop::steps; step += every) {
    by_homes += time(step, moving_drop::squares());
    by_first_plan += time(step, first), planned_anew += time(step, anew);
    const auto g = moving_drop::steps_from(step + every - seen, seen, anew);
    const improvement i = improved(g, on);
    EXPECT_LE(i.after, i.before);
    if (i.after > (1 - model_error) * i.before) continue;
    planned_anew += i.moving;
    for (std::size_t k = 0; k < g.subtasks.size(); ++k)
      anew[g.uses_of(k).back().datum] = i.ranks[k];
    if (step == 0) first = anew;
  }
  RecordProperty("homes_us", static_cast<int>(by_homes));
  RecordProperty("first_plan_us", static_cast<int>(by_first_plan));
  RecordProperty("planned_anew_us", static_cast<int>(planned_anew));
  EXPECT_GT(by_first_plan, 1.2 * planned_anew);
  EXPECT_GT(by_homes, 1.2 * planned_anew);
}

TEST(improved, leaves_parts_where_they_are) {
  auto place = moving_drop::squares();
  for (std::uint32_t& rank : place) rank = (rank * 5 + 3) % moving_drop::nodes;
  const auto g = moving_drop::steps_from(0, 2, place);
  std::vector<std::uint32_t> named;
  for (const auto& s : g.subtasks) named.push_back((s.ran_on * 7 + 1) % moving_drop::nodes);
  keep_places(g, named, moving_drop::nodes);
  for (std::size_t i = 0; i < named.size(); ++i) ASSERT_EQ(named[i], g.subtasks[i].ran_on);
}

}  // namespace
}  // namespace cleave::detail
