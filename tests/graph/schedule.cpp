// Schedules of recorded graphs: what the model says of small ones is known; random ones keep their
// bounds.
#include "graph/schedule.hpp"
#include "core/requests.hpp"
#include "graph/dependences.hpp"
#include "graph/placement.hpp"
#include "graph/recorded_graph.hpp"
#include "sanitized.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cleave::detail {
namespace {

using tests::random_at;
using use = recorded_graph::use;
constexpr auto in = access_mode::in, out = access_mode::out, inout = access_mode::inout,
               add = access_mode::add;

class graph_of {
public:
  graph_of& run(double duration, std::initializer_list<use> uses,
                std::initializer_list<std::uint32_t> after = {}) {
    for (const use& u : uses) {
      g.uses.push_back(u);
      if (u.datum >= g.bytes.size()) g.bytes.resize(u.datum + 1, 1000);
    }
    g.after.insert(g.after.end(), after);
    g.subtasks.push_back({0, recorded_graph::any_rank, 0, static_cast<std::uint32_t>(g.uses.size()),
                          static_cast<std::uint32_t>(g.after.size()), duration});
    return *this;
  }
  graph_of& asked(std::uint32_t rank) {
    g.subtasks.back().asked = rank;
    return *this;
  }
  recorded_graph g = [] {
    recorded_graph empty;
    empty.names = {"subtask"};
    return empty;
  }();
};

machine_model machine(unsigned nodes, unsigned workers, double latency, double per_byte) {
  machine_model m{nodes, workers, {}};
  m.messages.transit = {latency, per_byte};
  return m;
}

double sum_of(const recorded_graph& g) {
  double sum = 0;
  for (const auto& s : g.subtasks) sum += s.duration;
  return sum;
}

std::vector<std::uint32_t> all_on(const recorded_graph& g, std::uint32_t rank) {
  return std::vector<std::uint32_t>(g.subtasks.size(), rank);
}

// ---- the model

TEST(model, a_chain_takes_the_sum_of_its_parts) {
  graph_of c;
  for (int i = 0; i < 5; ++i) c.run(10, {{0, inout}});
  EXPECT_EQ(simulated(c.g, machine(1, 4, 0, 0), all_on(c.g, 0)), 50);
  EXPECT_EQ(critical_path(c.g), 50);
}

TEST(model, workers_share_what_does_not_depend_on_each_other) {
  graph_of c;
  for (std::uint32_t i = 0; i < 6; ++i) c.run(10, {{i, out}});
  EXPECT_EQ(simulated(c.g, machine(1, 1, 0, 0), all_on(c.g, 0)), 60);
  EXPECT_EQ(simulated(c.g, machine(1, 4, 0, 0), all_on(c.g, 0)), 20);
  EXPECT_EQ(critical_path(c.g), 10);
}

TEST(model, a_value_that_goes_to_another_node_takes_its_time) {
  graph_of c;
  c.run(10, {{0, out}}).run(5, {{0, in}, {1, out}});
  EXPECT_EQ(simulated(c.g, machine(2, 1, 7, 0.01), {0, 0}), 15);
  EXPECT_EQ(simulated(c.g, machine(2, 1, 7, 0.01), {0, 1}), 10 + 10 + 7 + 5);
}

TEST(model, a_value_goes_once_to_a_node) {
  graph_of c;
  c.run(10, {{0, out}});
  for (std::uint32_t i = 1; i < 4; ++i) c.run(1, {{0, in}, {i, out}});
  EXPECT_EQ(simulated(c.g, machine(2, 1, 7, 0.01), {0, 1, 1, 1}), 10 + 10 + 7 + 3);
}

TEST(model, workers_put_values_into_messages_and_take_them_out) {
  graph_of c;
  c.run(10, {{0, out}});
  for (std::uint32_t i = 1; i < 4; ++i) c.run(1, {{0, in}, {i, out}});
  auto on = machine(4, 1, 7, 0.01);
  on.messages.sending = {2, 0.003}, on.messages.receiving = {4, 0.001};
  EXPECT_DOUBLE_EQ(simulated(c.g, on, {0, 1, 1, 1}), 10 + (2 + 3) + (7 + 10) + (4 + 1) + 3);
  // To three nodes: the same worker puts it into one message after the other.
  EXPECT_DOUBLE_EQ(simulated(c.g, on, {0, 1, 2, 3}), 10 + 3 * (2 + 3) + (7 + 10) + (4 + 1) + 1);
}

TEST(model, what_has_come_is_taken_out_before_other_work) {
  graph_of c;
  c.run(10, {{0, out}}).run(8, {{1, out}}).run(30, {{2, out}}).run(1, {{0, in}, {3, out}});
  c.run(20, {{4, out}});
  auto on = machine(2, 1, 0, 0);
  on.messages.receiving.fixed = 5;
  // Node 1: 8, then 30 while the value comes, which is taken out before the last one begins.
  EXPECT_EQ(simulated(c.g, on, {0, 1, 1, 1, 1}), 8 + 30 + 5 + 1 + 20);
}

TEST(model, a_reader_holds_up_who_writes_next_on_its_own_node_only) {
  graph_of c;
  c.run(1, {{0, out}}).run(100, {{0, in}, {1, out}}).run(1, {{0, out}});
  EXPECT_EQ(simulated(c.g, machine(1, 2, 0, 0), {0, 0, 0}), 102);
  EXPECT_EQ(simulated(c.g, machine(2, 2, 0, 0), {0, 0, 1}), 101);
}

TEST(model, those_that_add_wait_for_what_was_before_and_are_all_waited_for) {
  graph_of c;
  c.run(10, {{0, out}}).run(5, {{0, add}}).run(5, {{0, add}}).run(1, {{0, in}, {1, out}});
  EXPECT_EQ(simulated(c.g, machine(1, 2, 0, 0), all_on(c.g, 0)), 16);
}

// On each node those that add wait for its own readers, and nobody for those elsewhere.
TEST(model, those_that_add_wait_for_readers_on_their_own_node_only) {
  graph_of c;
  std::vector<std::uint32_t> ranks;
  const auto run = [&](double duration, access_mode mode, std::uint32_t rank) {
    c.run(duration, {{0, mode}}), ranks.push_back(rank);
  };
  run(0, out, 0);
  run(10, in, 0), run(20, in, 0), run(100, in, 1);
  run(3, add, 0), run(4, add, 0);
  EXPECT_EQ(simulated(c.g, machine(2, 9, 0, 0), ranks), 100);
  run(1, in, 0);
  EXPECT_EQ(simulated(c.g, machine(2, 9, 0, 0), ranks), 100);
  c.g.subtasks[3].duration = 0;
  EXPECT_EQ(simulated(c.g, machine(2, 9, 0, 0), ranks), 20 + 4 + 1);
  EXPECT_EQ(critical_path(c.g), 20 + 4 + 1);
  ranks[4] = 1;  // what it has added is where the last of them is after a message
  EXPECT_EQ(simulated(c.g, machine(2, 9, 50, 0), ranks), 50 + 3 + 50 + 1);
}

// Of those that add the last one has the value: who reads gets it from there, in one message.
TEST(model, what_many_have_added_goes_once_to_a_node) {
  graph_of c;
  std::vector<std::uint32_t> ranks;
  for (int i = 0; i < 6; ++i) c.run(10, {{0, add}}), ranks.push_back(0);
  for (int i = 0; i < 4; ++i) c.run(1, {{0, in}}), ranks.push_back(1);
  auto on = machine(2, 1, 7, 0.01);
  on.messages.sending = {2, 0.003}, on.messages.receiving = {4, 0.001};
  EXPECT_DOUBLE_EQ(simulated(c.g, on, ranks), 60 + (2 + 3) + (7 + 10) + (4 + 1) + 4);
}

TEST(dependences, are_few_for_each_mode_after_each_other_one) {
  constexpr std::uint32_t count = 200;
  for (const auto first : {in, out, inout, add})
    for (const auto second : {in, out, inout, add})
      for (const auto third : {in, out, inout, add}) {
        graph_of c;
        for (const auto mode : {first, second, third})
          for (std::uint32_t i = 0; i < count; ++i) c.run(1, {{0, mode}});
        const dependences d(c.g);
        std::size_t edges = 0;
        for (std::uint32_t v = 0; v < d.size(); ++v) edges += d.before(v).size();
        EXPECT_LE(edges, 3 * c.g.subtasks.size());
        // All that was joined is met again, by who places it and by who runs it.
        const auto on = machine(3, 2, 4, 0.001);
        const auto ranks = by_critical_path(c.g, detail::dependences(c.g), on);
        ASSERT_EQ(ranks.size(), c.g.subtasks.size());
        EXPECT_GE(simulated(c.g, on, ranks) + 1e-9, sum_of(c.g) / 6);
        EXPECT_EQ(simulated(c.g, machine(1, 1, 0, 0), all_on(c.g, 0)), sum_of(c.g));
      }
}

TEST(model, what_is_told_to_come_after_does) {
  graph_of c;
  c.run(10, {{0, out}}).run(5, {{1, out}}, {0});
  EXPECT_EQ(simulated(c.g, machine(1, 2, 3, 0), {0, 0}), 15);
  EXPECT_EQ(simulated(c.g, machine(2, 2, 3, 0), {0, 1}), 18);
}

// ---- schedules

TEST(critical_path_schedule, begins_with_the_longest_path) {
  // Those of a chain are on one node, whatever else there is.
  graph_of c;
  for (std::uint32_t i = 0; i < 4; ++i) c.run(10, {{9, inout}}).run(10, {{i, out}});
  const auto ranks = by_critical_path(c.g, detail::dependences(c.g), machine(2, 1, 0, 0));
  EXPECT_EQ(simulated(c.g, machine(2, 1, 0, 0), ranks), 40) << testing::PrintToString(ranks);
}

TEST(critical_path_schedule, stays_where_the_data_are_if_messages_are_slow) {
  graph_of c;
  c.run(10, {{0, out}});
  for (std::uint32_t i = 1; i < 5; ++i) c.run(1, {{0, in}, {i, out}});
  const auto ranks = by_critical_path(c.g, detail::dependences(c.g), machine(4, 1, 1000, 0));
  EXPECT_EQ(std::set(ranks.begin(), ranks.end()).size(), 1u);
}

/// A ring of blocks, each of which reads its neighbours in each step.
recorded_graph ring(std::uint32_t blocks, int steps) {
  graph_of c;
  for (int step = 0; step < steps; ++step) {
    // Two copies, so that neighbours are those of the step before.
    const std::uint32_t from = step % 2 == 0 ? 0 : blocks, to = blocks - from;
    for (std::uint32_t b = 0; b < blocks; ++b)
      c.run(10, {{from + (b + 1) % blocks, in},
                 {from + (b + blocks - 1) % blocks, in},
                 {from + b, in},
                 {to + b, out}});
  }
  return std::move(c.g);
}

TEST(partition, cuts_a_ring_into_arcs) {
  const auto g = ring(16, 20);
  for (const unsigned nodes : {2u, 4u}) {
    const auto ranks = by_partition(g, machine(nodes, 1, 5, 0));
    std::vector<int> of(nodes);
    int borders = 0;
    for (std::uint32_t b = 0; b < 16; ++b) {
      ++of[ranks[b]];
      borders += ranks[b] != ranks[(b + 1) % 16] ? 1 : 0;
      EXPECT_EQ(ranks[b], ranks[b + 16]) << "both copies of a block are on one node";
    }
    for (const int n : of) EXPECT_EQ(n, static_cast<int>(16 / nodes));
    EXPECT_EQ(borders, static_cast<int>(nodes));
  }
}

TEST(in_order, parts_what_the_program_made_one_after_the_other) {
  const auto parts = [](const std::vector<double>& work, unsigned nodes) {
    graph_of c;
    for (std::uint32_t i = 0; i < work.size(); ++i) c.run(work[i], {{i, out}});
    return in_order(c.g, machine(nodes, 1, 5, 0));
  };
  using ranks = std::vector<std::uint32_t>;
  EXPECT_EQ(parts({10, 10, 10, 10, 10, 10}, 3), (ranks{0, 0, 1, 1, 2, 2}));
  // None has to have more than 30.
  EXPECT_EQ(parts({30, 10, 10, 10, 10, 20}, 3), (ranks{0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(parts({1, 1, 50, 1}, 3), (ranks{0, 0, 1, 2}));
  EXPECT_EQ(parts({5, 5}, 4), (ranks{0, 1}));
  EXPECT_EQ(parts({0, 0}, 2), (ranks{0, 0}));
  EXPECT_EQ(parts({}, 2), ranks{});
}

TEST(partition, gives_each_node_as_much_work_as_others) {
  graph_of c;
  for (std::uint32_t i = 0; i < 40; ++i) c.run(i < 4 ? 90 : 10, {{i, out}});
  const auto ranks = by_partition(c.g, machine(4, 1, 1, 0));
  std::vector<double> work(4);
  for (std::uint32_t i = 0; i < 40; ++i) work[ranks[i]] += c.g.subtasks[i].duration;
  for (const double w : work) EXPECT_NEAR(w, 180, 20);
}

TEST(best, is_better_than_a_bad_recording) {
  auto g = ring(16, 20);
  g.nodes = 2;
  for (std::uint32_t i = 0; i < g.subtasks.size(); ++i) g.subtasks[i].ran_on = i % 2;
  auto on = machine(2, 1, 20, 0);
  on.messages.sending.fixed = on.messages.receiving.fixed = 5;
  std::vector<std::uint32_t> recorded;
  for (const auto& s : g.subtasks) recorded.push_back(s.ran_on);
  const auto best = best_schedule(g, on);
  EXPECT_NE(best.by, schedule::method::as_recorded);
  EXPECT_LT(best.time, 0.7 * simulated(g, on, recorded));
}

TEST(best, keeps_what_was_recorded_if_another_one_is_hardly_better) {
  // Two nodes with equal work, but for one subtask that is moved if that is worth it.
  const auto recorded = [](double moved) {
    graph_of c;
    for (std::uint32_t i = 0; i < 10; ++i) {
      c.run(100, {{i, out}});
      c.g.subtasks.back().ran_on = i % 2;
    }
    for (std::uint32_t i = 10; i < 12; ++i) c.run(moved, {{i, out}});  // both on node 0
    c.g.nodes = 2;
    return best_schedule(c.g, machine(2, 1, 0, 0));
  };
  EXPECT_EQ(recorded(8).by, schedule::method::as_recorded);  // 516 or 508
  EXPECT_EQ(recorded(8).time, 516);
  EXPECT_NE(recorded(40).by, schedule::method::as_recorded);  // 580 or 540
  EXPECT_EQ(recorded(40).time, 540);
}

TEST(best, leaves_nodes_idle_that_would_not_help) {
  const auto g = ring(16, 20);
  auto on = machine(8, 1, 100, 0);
  EXPECT_LE(best_schedule(g, on).time, sum_of(g));
  on.messages.sending.fixed = on.messages.receiving.fixed = 1000;
  EXPECT_EQ(best_schedule(g, on).time, sum_of(g));
}

TEST(plan, says_nothing_from_the_first_subtask_on_that_uses_other_data) {
  graph_of c;
  for (std::uint32_t i = 0; i < 4; ++i) c.run(10, {{i, in}, {i + 1, out}});
  const schedule s{{3, 1, 2, 0}, 0, schedule::method::partition};
  std::vector<any_datum> data(6);
  for (std::uint32_t i = 0; i < data.size(); ++i) data[i].place.number = i;
  const auto uses = [&](std::uint32_t reads, std::uint32_t writes, access_mode mode = out) {
    return std::vector<datum_use>{{&data[reads], in}, {&data[writes], mode}};
  };
  placement_plan whole(c.g, s);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(whole.next(uses(i, i + 1)), s.ranks[i]);
  EXPECT_FALSE(whole.next(uses(0, 1)));
  EXPECT_FALSE(whole.differs_at()) << "more subtasks are no other graph";

  placement_plan other(c.g, s), mode(c.g, s), fewer(c.g, s);
  EXPECT_EQ(other.next(uses(0, 1)), 3u);
  EXPECT_FALSE(other.next(uses(1, 3)));
  EXPECT_FALSE(other.next(uses(2, 3))) << "though it is as recorded";
  EXPECT_EQ(other.differs_at(), 1u);
  EXPECT_FALSE(mode.next(uses(0, 1, inout)));
  EXPECT_FALSE(fewer.next(std::vector<datum_use>{{&data[0], in}}));

  std::vector<std::byte> told;
  byte_writer w(told);
  placement_plan(c.g, s).put(w);
  byte_reader r(told), small(told);
  placement_plan again(r, 4);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(again.next(uses(i, i + 1)), s.ranks[i]);
  EXPECT_THROW(placement_plan(small, 3), malformed) << "there is no rank 3";
}

// ---- random graphs

recorded_graph random_graph(std::uint64_t seed) {
  std::uint64_t count = 0;
  const auto draw = [&](std::uint64_t below) {
    return random_at(seed * 1'000'003 + count++) % below;
  };
  recorded_graph g;
  g.names = {"a", "b"};
  const auto data = static_cast<std::uint32_t>(1 + draw(12));
  for (std::uint32_t d = 0; d < data; ++d) g.bytes.push_back(static_cast<double>(draw(5000)));
  const auto subtasks = draw(120);
  for (std::uint32_t i = 0; i < subtasks; ++i) {
    for (auto k = draw(4); k > 0; --k)
      g.uses.push_back({static_cast<std::uint32_t>(draw(data)), static_cast<access_mode>(draw(4))});
    if (i > 0 && draw(4) == 0) g.after.push_back(static_cast<std::uint32_t>(draw(i)));
    const bool asks = draw(6) == 0;
    g.subtasks.push_back({static_cast<std::uint32_t>(draw(2)),
                          asks ? static_cast<std::uint32_t>(draw(3)) : recorded_graph::any_rank, 0,
                          static_cast<std::uint32_t>(g.uses.size()),
                          static_cast<std::uint32_t>(g.after.size()),
                          static_cast<double>(draw(50))});
  }
  return g;
}

TEST(random, no_schedule_is_better_than_can_be_or_worse_than_it_may) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto g = random_graph(seed);
    const double work = sum_of(g), path = critical_path(g);
    EXPECT_DOUBLE_EQ(simulated(g, machine(1, 1, 9, 1), all_on(g, 0)), work);
    // Greedy on one node: Graham's bound.
    const double three = simulated(g, machine(1, 3, 0, 0), all_on(g, 0));
    EXPECT_GE(three + 1e-9, std::max(work / 3, path));
    EXPECT_LE(three, work / 3 + path + 1e-9);
    const auto on = machine(3, 2, 4, 0.001);
    for (const auto& ranks :
         {by_critical_path(g, detail::dependences(g), on), by_partition(g, on), in_order(g, on)}) {
      ASSERT_EQ(ranks.size(), g.subtasks.size());
      EXPECT_GE(simulated(g, on, ranks) + 1e-9, work / 6);
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        EXPECT_LT(ranks[i], 3u);
        if (g.subtasks[i].asked != recorded_graph::any_rank) {
          EXPECT_EQ(ranks[i], g.subtasks[i].asked);
        }
      }
    }
    const auto best = best_schedule(g, on);
    EXPECT_LE(best.time, simulated(g, on, by_critical_path(g, detail::dependences(g), on)));
    EXPECT_LE(best.time, simulated(g, on, by_partition(g, on)));
    EXPECT_LE(best.time, simulated(g, on, in_order(g, on)));
  }
}

// ---- files

std::vector<std::byte> bytes_of(const recorded_graph& g) {
  std::vector<std::byte> to;
  byte_writer w(to);
  g.put(w);
  return to;
}

TEST(file, has_all_of_a_graph) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto g = random_graph(seed);
    g.messages.transit = {3, 0.5}, g.messages.sending = {1, 2}, g.workers = 7;
    const auto first = bytes_of(g);
    recorded_graph again;
    byte_reader r(first);
    again.get(r);
    EXPECT_EQ(bytes_of(again), first);
    EXPECT_EQ(
        simulated(again, machine(3, 2, 4, 0.001), by_partition(again, machine(3, 2, 4, 0.001))),
        simulated(g, machine(3, 2, 4, 0.001), by_partition(g, machine(3, 2, 4, 0.001))));
  }
}

TEST(ranks, of_an_mpi_program_are_not_divided) {
  auto g = random_graph(3);
  g.of_ranks = true, g.nodes = 4;
  for (std::size_t i = 0; i < g.subtasks.size(); ++i) g.subtasks[i].ran_on = i % 4;
  const auto all = bytes_of(g);
  recorded_graph again;
  byte_reader r(all);
  again.get(r);
  EXPECT_TRUE(again.of_ranks);
  EXPECT_EQ(bytes_of(again), all);
  const auto on_two = best_schedule(again, machine(2, 1, 1, 1)).ranks,
             on_eight = best_schedule(again, machine(8, 1, 1, 1)).ranks;
  ASSERT_EQ(on_two.size(), g.subtasks.size());
  for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
    EXPECT_EQ(on_two[i], i % 4 / 2) << i;
    EXPECT_EQ(on_eight[i], i % 4) << i;
  }
}

TEST(file, that_is_cut_short_or_changed_is_refused_or_a_graph) {
  const auto whole = bytes_of(random_graph(11));
  const std::size_t step = tests::sanitized ? 5 : 1;
  for (std::size_t n = 0; n < whole.size(); n += step) {
    recorded_graph g;
    const std::span<const std::byte> part(whole.data(), n);
    byte_reader r(part);
    EXPECT_THROW(g.get(r), malformed) << n;
  }
  for (std::size_t n = 0; n < whole.size(); n += step) {
    auto changed = whole;
    changed[n % whole.size()] ^= static_cast<std::byte>(random_at(n) | 1);
    recorded_graph g;
    try {
      byte_reader r(changed);
      g.get(r);
    } catch (const malformed&) { continue; }
    const auto ranks = best_schedule(g, machine(2, 1, 1, 1)).ranks;
    EXPECT_EQ(ranks.size(), g.subtasks.size());
  }
}

TEST(file, that_cannot_be_used_is_named) {
  const tests::temporary_folder folder;
  const auto file = (folder.path / "a.plan").string();
  const auto expect_named = [&](auto f) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find("a.plan"), std::string::npos) << e.what();
    }
  };
  expect_named([&] { read_recorded_graph(file); });
  std::ofstream(file) << "something else";
  expect_named([&] { read_recorded_graph(file); });
  EXPECT_THROW(read_recorded_graph("/dev/zero"), std::runtime_error) << "it has no end";
  const auto nowhere = (folder.path / "none" / "a.plan").string();
  expect_named([&] { write_recorded_graph(random_graph(1), nowhere); });
  write_recorded_graph(random_graph(1), file);
  EXPECT_EQ(bytes_of(read_recorded_graph(file)), bytes_of(random_graph(1)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
  // Through a link: the file that it leads to.
  const auto link = (folder.path / "link").string();
  std::filesystem::create_symlink("b.plan", link);
  write_recorded_graph(random_graph(2), link);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(bytes_of(read_recorded_graph((folder.path / "b.plan").string())),
            bytes_of(random_graph(2)));
}

}  // namespace
}  // namespace cleave::detail
