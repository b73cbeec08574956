// The study of molecular dynamics: what is run, what is simulated, what is concluded and written.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "graph/schedule.hpp"
#include "study/comes_back.hpp"
#include "study/md_data.hpp"
#include "study/md_findings.hpp"
#include "study/md_run.hpp"
#include "support/command_line.hpp"

namespace {

using namespace study::dynamics;
using cleave::detail::access_mode;
using cleave::detail::message_costs;
using cleave::detail::recorded_graph;
constexpr way both[] = {way::dependences, way::synchronous};

plan small_plan() {
  choice asked;
  asked.quick = true, asked.mpis = {"none"};
  std::vector<std::string> missing;
  return plan_of(asked, 2, missing);
}

void add_subtask(recorded_graph& g, const std::string& name, double duration,
                 const std::vector<recorded_graph::use>& uses) {
  auto at = std::ranges::find(g.names, name);
  if (at == g.names.end()) at = g.names.insert(at, name);
  for (const auto& u : uses) {
    g.uses.push_back(u);
    if (u.datum >= g.bytes.size()) g.bytes.resize(u.datum + 1, 1000);
  }
  recorded_graph::subtask s;
  s.name = static_cast<std::uint32_t>(at - g.names.begin());
  s.uses_end = static_cast<std::uint32_t>(g.uses.size()), s.duration = duration;
  g.subtasks.push_back(s);
}

// A ring of blocks as `md` has them: each tells the next one, then computes with what it is told.
recorded_graph ring(std::uint32_t blocks, int steps, const std::vector<double>& durations) {
  recorded_graph g;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    add_subtask(g, "begin", 1, {{b, access_mode::out}});
    add_subtask(g, "settle", 1, {{b, access_mode::inout}, {blocks + b, access_mode::out}});
  }
  for (int step = 0; step < steps; ++step) {
    for (std::uint32_t b = 0; b < blocks; ++b)
      add_subtask(g, "force", durations[(b + step) % durations.size()],
                  {{b, access_mode::inout}, {blocks + (b + 1) % blocks, access_mode::in}});
    for (std::uint32_t b = 0; b < blocks; ++b)
      add_subtask(g, "advance", 2, {{b, access_mode::inout}, {blocks + b, access_mode::out}});
  }
  return g;
}

message_costs costs() { return {{2, 1e-3}, {10, 1e-3}, {3, 1e-3}}; }

double computed(const recorded_graph& g) {
  double sum = 0;
  for (const auto& s : g.subtasks) sum += s.duration;
  return sum;
}

TEST(simulated, blocks_and_phases) {
  const auto g = ring(4, 2, {10});
  const auto blocks = blocks_of(g);
  EXPECT_EQ(blocks.count, 4u);
  EXPECT_EQ(std::vector(blocks.of.begin(), blocks.of.begin() + 12),
            (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3}));
  EXPECT_EQ(slabs(blocks, 2)[5], 1u);
  EXPECT_EQ(slabs(blocks, 2)[2], 0u);
  // Settling, then computing and telling, then computing and telling again.
  const auto phases = phases_of(g, blocks);
  EXPECT_EQ(phases[7], 0u);
  EXPECT_EQ(phases[8], 1u);
  EXPECT_EQ(phases[15], 1u) << "a block that tells what it has computed begins no phase";
  EXPECT_EQ(phases[16], 2u);
  recorded_graph none = g;
  none.names = {"a", "b", "c", "d"};
  EXPECT_THROW((void)blocks_of(none), std::runtime_error);
}

TEST(simulated, as_the_plan_says_by_dependences) {
  std::mt19937 random(1);
  const auto below = [&random](std::uint32_t n) {
    return static_cast<std::uint32_t>(random() % n);
  };
  for (int round = 0; round < 200; ++round) {
    recorded_graph g;
    const std::uint32_t data = 1 + below(6), nodes = 1 + below(4);
    std::vector<std::uint32_t> on;
    for (std::uint32_t i = 0, n = below(40); i < n; ++i) {
      std::vector<recorded_graph::use> uses;
      for (std::uint32_t d = 0; d < data; ++d)
        if (below(3) == 0) uses.push_back({d, static_cast<access_mode>(below(3))});
      add_subtask(g, "some", below(20), uses);
      on.push_back(below(nodes));
    }
    g.bytes.resize(data, 500);
    const auto run = simulate(g, costs(), on, nodes, way::dependences);
    EXPECT_DOUBLE_EQ(run.time, cleave::detail::simulated(g, {nodes, 1, costs(), nullptr}, on))
        << "round " << round;
  }
}

TEST(simulated, all_time_is_told) {
  const auto g = ring(6, 5, {10, 30, 5});
  for (const unsigned nodes : {1u, 2u, 3u, 6u})
    for (const way by : all_ways) {
      const auto run = simulate(g, costs(), slabs(blocks_of(g), nodes), nodes, by);
      double computing = 0, of_spans = 0, told = 0;
      for (const auto& n : run.nodes) {
        computing += n.computing, told += n.communicating;
        EXPECT_NEAR(n.computing + n.communicating + n.waiting, run.time, 1e-6);
        EXPECT_GE(n.waiting, -1e-6);
      }
      std::vector<double> busy_until(nodes);
      auto spans = run.spans;
      std::ranges::sort(spans, {}, &span_of_node::begin);
      for (const auto& s : spans) {
        EXPECT_GE(s.begin, busy_until[s.node] - 1e-9) << "a node does one thing at a time";
        busy_until[s.node] = s.end;
        if (s.what >= 0) of_spans += s.end - s.begin;
      }
      EXPECT_NEAR(computing, computed(g), 1e-6);
      EXPECT_NEAR(of_spans, computed(g), 1e-6);
      EXPECT_EQ(told > 0, nodes > 1);
    }
}

TEST(simulated, by_hand) {
  // Two blocks on two nodes. Begin and settle: 2; a message of 1000 bytes: 3 to send, 11 on its
  // way, 4 to receive; a barrier of one round: 2 + 10 + 3.
  const auto g = ring(2, 1, {10, 30});
  const auto of = [&g](way by) { return simulate(g, costs(), slabs(blocks_of(g), 2), 2, by).time; };
  EXPECT_DOUBLE_EQ(of(way::dependences), 2 + 18 + 30 + 2);
  EXPECT_DOUBLE_EQ(of(way::synchronous), 2 + 18 + 15 + 30 + 2 + 15);
  EXPECT_DOUBLE_EQ(of(way::loose), 2 + 18 + 30 + 2);
}

TEST(simulated, what_a_subtask_tells_a_node_is_one_message) {
  recorded_graph g;
  add_subtask(g, "begin", 1, {{0, access_mode::out}, {1, access_mode::out}});
  add_subtask(g, "begin", 1, {{2, access_mode::out}});
  add_subtask(g, "force", 5, {{2, access_mode::inout}, {0, access_mode::in}, {1, access_mode::in}});
  const auto of = [&g](way by) { return simulate(g, costs(), {0, 1, 1}, 2, by).time; };
  EXPECT_DOUBLE_EQ(of(way::dependences), 1 + (2 + 2) + (10 + 2) + (3 + 2) + 5);
  EXPECT_DOUBLE_EQ(cleave::detail::simulated(g, {2, 1, costs(), nullptr}, {0, 1, 1}),
                   of(way::dependences));
  recorded_graph ranks = g;  // but a rank has sent each value by itself
  ranks.of_ranks = true, ranks.nodes = 2;
  EXPECT_DOUBLE_EQ(cleave::detail::simulated(ranks, {2, 1, costs(), nullptr}, {0, 1, 1}),
                   1 + (2 + 1) + (10 + 1) + 2 * (3 + 1) + 5);
  EXPECT_DOUBLE_EQ(of(way::loose), of(way::dependences));
  EXPECT_DOUBLE_EQ(of(way::synchronous), of(way::dependences) + 2 * 15);
}

TEST(simulated, dependences_gain_where_loads_differ) {
  const auto g = ring(8, 12, {100, 10, 10, 10, 10, 10, 10});  // the slow block is another each step
  const auto of = [&g](way by) { return simulate(g, costs(), slabs(blocks_of(g), 8), 8, by).time; };
  EXPECT_LT(of(way::dependences) * 1.2, of(way::synchronous));
  EXPECT_LE(of(way::loose), of(way::synchronous));
}

// One node has four blocks of work, the other one has none.
recorded_graph uneven(double duration) {
  recorded_graph g;
  for (std::uint32_t b = 0; b < 4; ++b) add_subtask(g, "begin", 0, {{b, access_mode::out}});
  for (std::uint32_t b = 0; b < 4; ++b)
    add_subtask(g, "force", duration, {{b, access_mode::inout}});
  return g;
}

TEST(simulated, idle_nodes_are_lent_what_is_ready) {
  const auto of = [](const recorded_graph& g, const std::vector<std::uint32_t>& on, way by) {
    return simulate(g, costs(), on, 2, by);
  };
  const std::vector<std::uint32_t> alone(8, 0);
  const auto long_ones = of(uneven(100), alone, way::dynamic);
  // Node 1 asks at once, and in vain: 15. It is told of the others as soon as node 0 has begun one:
  // 15, asks again: 15, and is lent the second one: 3 + 11 + 4, 100, 3 + 11; node 0 takes that out
  // when it has done the third one, and both do one more meanwhile.
  EXPECT_GT(long_ones.nodes[1].computing, 0);
  EXPECT_LT(long_ones.time, 330) << "400 without lending, 200 if nothing cost anything";
  EXPECT_NEAR(long_ones.nodes[0].computing + long_ones.nodes[1].computing, 400, 1e-9);
  // What takes less than its messages stays.
  const auto short_ones = of(uneven(6), alone, way::dynamic);
  EXPECT_EQ(short_ones.nodes[1].computing, 0);
  EXPECT_DOUBLE_EQ(short_ones.time, 24);
  // Where nobody is idle for long nothing is lent.
  const std::vector<std::uint32_t> dealt{0, 0, 1, 1, 0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(of(uneven(100), dealt, way::dynamic).time, 200);
}

TEST(simulated, plans) {
  // The first block of the ring has most of the work.
  auto g = ring(8, 10, {10});
  for (auto& s : g.subtasks)
    if (g.uses_of(&s - g.subtasks.data())[0].datum == 0) s.duration *= 7;
  const auto equal = graph_of_plan(g, way::initial_plan);
  EXPECT_EQ(equal.subtasks[0].duration, equal.subtasks.back().duration);
  EXPECT_NEAR(computed(equal), computed(g), 1e-6);
  EXPECT_EQ(graph_of_plan(g, way::improved_plan).subtasks[0].duration, g.subtasks[0].duration);
  const auto of = [&g](way by) {
    return simulate(g, costs(), nodes_of_subtasks(g, by, 2), 2, by).time;
  };
  EXPECT_EQ(nodes_of_subtasks(g, way::dynamic, 2), slabs(blocks_of(g), 2));
  EXPECT_LT(of(way::improved_plan) * 1.2, of(way::initial_plan));
}

TEST(simulated, medians_of_recordings) {
  auto a = ring(2, 1, {10}), b = a, c = a;
  a.subtasks[4].duration = 1000, b.subtasks[4].duration = 11, c.subtasks[4].duration = 9;
  EXPECT_EQ(with_median_durations({a, b, c}).subtasks[4].duration, 11);
  c.subtasks.pop_back();
  EXPECT_THROW((void)with_median_durations({a, b, c}), std::runtime_error);
}

TEST(cases, all) {
  const plan p = small_plan();
  EXPECT_EQ(p.ranks, (std::vector{1, 2}));
  ASSERT_EQ(p.systems.size(), 1u);
  EXPECT_EQ(p.systems[0].name, "melt");
  plan with_mpis = p;
  with_mpis.mpis = {"openmpi", "mpich"};
  const auto first = runs_of(with_mpis, 1), second = runs_of(with_mpis, 2);
  ASSERT_EQ(first.size(), 1 + 2 + 2 + 2 * 5u);
  EXPECT_EQ(first[0].by, "simulated") << "plans are made of it";
  EXPECT_EQ(first[1].how, way::dependences);
  EXPECT_EQ(first[2].how, way::synchronous) << "the two ways are neighbours";
  EXPECT_EQ(first[1].by, first[2].by);
  EXPECT_EQ(second[0].by, "simulated");
  EXPECT_TRUE(second[1].is_same(first.back())) << "the second pass runs backwards";
  EXPECT_EQ(first.back().how, way::improved_plan);
}

TEST(cases, commands) {
  plan p = small_plan();
  p.mpis = {"mpich"};
  p.systems.push_back({"x", "", "", 1, 0, {"x.data", "--settings", "SETTINGS"}});
  const auto has = [](const std::vector<std::string>& all, const std::vector<std::string>& some) {
    return std::search(all.begin(), all.end(), some.begin(), some.end()) != all.end();
  };
  const auto of = [&p](const cell& run) { return command_of(run, p, "md", "here", "graph"); };
  const auto workers = of({"x", "workers", 2, way::synchronous, {}, {}});
  EXPECT_EQ(workers[0], "md");
  EXPECT_TRUE(has(workers, {"x.data", "--settings", "here"}));
  EXPECT_TRUE(has(workers, {"--workers", "2"}));
  EXPECT_TRUE(has(workers, {"--synchronous"}));
  const auto ranks = of({"melt", "mpich", 2, way::dependences, {}, {}});
  EXPECT_TRUE(has(ranks, {"-n", "2", "md", "6"}));
  EXPECT_TRUE(has(ranks, {"--workers", "1"}));
  EXPECT_FALSE(has(ranks, {"--synchronous"}));
  EXPECT_TRUE(has(of({"melt", "mpich", 2, way::dynamic, {}, {}}), {"--dynamic"}));
  EXPECT_TRUE(has(of({"melt", "mpich", 2, way::initial_plan, {}, {}}), {"--plan", "graph"}));
  EXPECT_TRUE(has(of({"melt", "simulated", 2, way::dependences, {}, {}}), {"--plan", "graph"}));
}

TEST(cases, what_is_asked_for) {
  std::vector<std::string> missing;
  const auto refused = [&missing](const choice& asked) {
    EXPECT_THROW((void)plan_of(asked, 2, missing), apps::usage_error);
  };
  choice asked;
  asked.systems = {"water"}, refused(asked);
  asked.systems = {"bpti"}, refused(asked);
  asked.where.proteins = "/no/folder", refused(asked);
  asked.systems = {}, asked.mpis = {"mine"}, refused(asked);
  asked.mpis = {"none"}, asked.transport = "mpich", refused(asked);
  asked.transport = "", asked.where = {"", "/no/peptide"};
  missing.clear();
  const plan p = plan_of(asked, 2, missing);
  ASSERT_EQ(p.systems.size(), 1u);
  EXPECT_EQ(p.systems[0].name, "melt") << "where no molecules are";
  EXPECT_EQ(missing.size(), 2u);
}

TEST(cases, files_of_proteins) {
  const cleave::tests::temporary_folder folder;
  std::ofstream(folder.path / "bpti.data") << "made by hand\n\n 16735 atoms\n 3 atom types\n";
  std::ofstream(folder.path / "bpti.settings") << "units real\n";
  choice asked;
  asked.mpis = {"none"}, asked.where = {folder.path, "/no/peptide"};
  std::vector<std::string> missing;
  const plan p = plan_of(asked, 2, missing);
  ASSERT_EQ(p.systems.size(), 1u);
  EXPECT_EQ(p.systems[0].name, "bpti");
  EXPECT_EQ(p.systems[0].atoms, 16735);
  EXPECT_EQ(missing.size(), 1u) << "lysozyme is not here";
}

cell cell_with(const std::string& by, int nodes, way how, double seconds, double waiting,
               double communicating = 1) {
  cell c{"peptide", by, nodes, how, {}, {}};
  c.values = {{"seconds", {seconds, 3 * seconds}},
              {"computing", {1, 1}},
              {"communicating", {communicating, communicating}},
              {"waiting", {waiting, waiting}}};
  if (by != "simulated") c.ranks = {{"waiting", {{waiting}, {waiting}}}};
  return c;
}

// All findings hold as in the paper, or none.
measured study_of(bool as_in_paper) {
  measured m;
  m.date = "2026-01-01", m.machine = "M", m.cpus = 2;
  m.what = small_plan();
  m.what.nodes = {1, 64, 125}, m.what.passes = 2, m.whole = 1, m.interrupted = true;
  m.what.systems = {{"peptide", "some", "BPTI", 16032, 125, {"file"}}};
  m.what.network = "cleave-mpich", m.what.messages = costs();
  m.missing = {"no MPI"};
  m.failures = {{{"peptide", "workers", 4, way::synchronous, {}, {}}, "too many"}};
  const double free = as_in_paper ? 2 : 9;
  for (const int n : {64, 125}) {
    m.cells.push_back(cell_with("simulated", n, way::dependences, free, free, free));
    m.cells.push_back(cell_with("simulated", n, way::synchronous, 8, 8, 8));
  }
  for (const int n : {16, 32})
    for (const way by : {way::dynamic, way::initial_plan, way::improved_plan, way::dependences})
      m.cells.push_back(cell_with("simulated", n, by, by == way::improved_plan ? free : 3, 1));
  m.cells.push_back(cell_with("workers", 2, way::dependences, as_in_paper ? 170 : 30, 1));
  m.cells.push_back(cell_with("workers", 2, way::synchronous, 34, 1));
  if (!as_in_paper) m.cells.back().values["computing"] = {2, 2};
  timeline t{"peptide", 2, {"force", "advance"}, {}};
  t.parts = {{way::dependences, 0.5, {{0, 1, 0.5, 1}, {1, -1, 1, 3}}, {{1, 2, 3}, {4, 5, 6}}}};
  m.timelines = {t};
  return m;
}

std::vector<std::string> verdicts(const measured& m) {
  std::vector<std::string> all;
  for (const finding& f : findings_of(m))
    if (!f.in_words().empty()) all.push_back(f.in_words());
  return all;
}

TEST(figures, of_the_same_pass) {
  const measured m = study_of(true);
  const cell& c = *m.find("peptide", "workers", 2, way::dependences);
  EXPECT_DOUBLE_EQ(gain(m, c), 0.2);
  EXPECT_DOUBLE_EQ(median_of(c, "seconds"), 340);
  EXPECT_EQ(median_of(c, "cpu_seconds"), 0) << "nobody has told";
  EXPECT_EQ(m.find("peptide", "workers", 3, way::dependences), nullptr);
  EXPECT_EQ(c.name(), "peptide, 2 workers, dependences");
}

TEST(findings, hold_or_not) {
  EXPECT_EQ(verdicts(study_of(true)), std::vector<std::string>(7, "yes"));
  EXPECT_EQ(verdicts(study_of(false)), std::vector<std::string>(7, "no"));
  measured few = study_of(true);
  few.what.nodes = {2};
  for (cell& c : few.cells) c.nodes = 2;
  EXPECT_EQ(verdicts(few).size(), 2u) << "nothing is said of many nodes";
  measured busy = study_of(true);
  busy.beside.others = 1;
  EXPECT_TRUE(verdicts(busy).empty());
  EXPECT_TRUE(findings_of({}).empty());
}

TEST(file, comes_back) {
  expect_comes_back(study_of(true), "md.json", read_measured,
                    {{"\"steps\": 4", "\"steps\": 0"},
                     {"\"passes\": 2", "\"passes\": \"2\""},
                     {"\"way\": \"synchronous\"", "\"way\": \"nobody\""},
                     {"\"way\":\"dependences\"", "\"way\":7"},
                     {"\"nodes\": 64", "\"nodes\": null"}});
}

TEST(timeline, of_a_recorded_graph) {
  plan p = small_plan();
  p.nodes = {1, 3, 4, 6, 9};
  const auto g = ring(6, p.steps, {100, 10, 10});
  const timeline t = simulated_timeline(g, p, "ring");
  EXPECT_EQ(t.nodes, 6) << "at most a node for each block";
  ASSERT_EQ(t.parts.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(t.parts[k].how, both[k]);
    EXPECT_EQ(t.parts[k].seconds, t.parts[0].seconds);
    EXPECT_EQ(t.parts[k].of_nodes.size(), 6u);
    ASSERT_FALSE(t.parts[k].spans.empty());
    for (const auto& s : t.parts[k].spans) {
      EXPECT_GE(s.begin, 0);
      EXPECT_LE(1e-6 * s.end, t.parts[k].seconds + 1e-12);
    }
  }
  const auto cells = simulated_cells(g, p, "ring");
  EXPECT_EQ(cells.size(), 3 + 3 * 6u);
  EXPECT_EQ(cells.back().nodes, 6);
}

}  // namespace
