// sim: the protocol between nodes in a world where everything may go wrong, and how it scales; and
// the workers of one node.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/decomposition.hpp"
#include "sim/faults.hpp"
#include "sim/granularity.hpp"
#include "sim/programs.hpp"
#include "sim/scale.hpp"
#include "sim/workers.hpp"
#include "support/command_line.hpp"
#include "support/save_file.hpp"
#include "uts/tree.hpp"

namespace {

struct faults_options {
  int seeds = 200, first = 1;
  std::string fault = "none";
  bool log = false, json = false;
};

struct scale_options {
  std::vector<int> workers = {4, 8, 16, 32, 64, 128, 256};
  std::vector<std::string> strategies;
  std::string sites = "four", plot, pentomino;
  int cost = 40, depth = 13, tree_seed = 29, seed = 1, killed_every = 0;
  int back_after = 0, told_after = 3'000, queens = 0, fib = 0, grav = 0, compare = 0;
  int seconds = 0, descents = 0;
  int node_workers = 0, poll = 0;
  bool json = false, progress = false;
};

struct node_options {
  std::string tree = "T3", gives = "rest", waits = "descendants", asks = "runner";
  std::vector<int> workers = {2, 4, 16, 64};
  int further_in = 1, further_in_for_waiting = 5, loops = 8, left = 8, node = 60, line = 100,
      answer = 200;
  int linger = 200, all_after = 1000, press = 20'000, seed = 1;
  bool json = false;
};

struct lu_options {
  int rows = 0, block = 128, seconds = 5645;
  std::vector<int> workers = {4, 16, 64, 256};
  std::string sites = "four";
  bool json = false;
};

struct granularity_options {
  std::vector<int> ranks = {2, 16, 128, 1024};
  int columns = 8, steps = 50, spread = 10, subtask = 634, foreign = 160, sending = 1'050,
      receiving = 1'350, transit = 300, seed = 1;
  bool all = false, json = false;
};

cleave::net::mutation named(const std::string& name) {
  if (name == "none") return cleave::net::mutation::none;
  std::string all = "none";
  for (const auto& m : sim::planted_mutations()) {
    if (name == m.name) return m.what;
    all += std::string(", ") + m.name;
  }
  throw apps::usage_error("--fault: \"" + name + "\"; expected one of " + all);
}

/// Runs the schedules; says which is the first that fails. Exit status 1 if one does.
int run_faults(const faults_options& o) {
  const auto planted = named(o.fault);
  if (o.log) {
    const auto r = sim::run_schedule(static_cast<std::uint64_t>(o.first), planted, true);
    for (const std::string& line : r.log) fmt::print("{}\n", line);
    return r.violation.empty() ? 0 : 1;
  }
  const auto all = sim::run_schedules(static_cast<std::uint64_t>(o.first),
                                      static_cast<std::uint64_t>(o.seeds), planted);
  if (o.json) {
    const nlohmann::json out = {
        {"schedules", all.run}, {"failed", all.failed},     {"first_failed", all.first_failed},
        {"events", all.events}, {"messages", all.messages}, {"violation", all.violation},
        {"tasks", all.tasks}};
    fmt::print("{}\n", out.dump());
  } else {
    fmt::print("{} schedules, {} failed; {} events, {} messages, {} tasks between nodes\n", all.run,
               all.failed, all.events, all.messages, all.tasks);
  }
  if (all.failed == 0) return 0;
  fmt::print(stderr, "sim: seed {}: {}\n", all.first_failed, all.violation);
  fmt::print(stderr, "sim: its events: sim faults --first {} --fault {} --log\n", all.first_failed,
             o.fault);
  return 1;
}

/// A choice among the names, as an option's value.
template <class Names>
std::size_t index_of(const std::string& option, const std::string& name, const Names& names) {
  const auto at = std::find(std::begin(names), std::end(names), name);
  if (at != std::end(names)) return static_cast<std::size_t>(at - std::begin(names));
  throw apps::usage_error(
      fmt::format("{}: \"{}\"; expected one of {}", option, name, fmt::join(names, ", ")));
}

/// Puts `relay-random,N` together again, which the list of names has cut in two.
std::vector<std::string> with_numbers(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (number && !all.empty()) all.back() += "," + name;
    else all.push_back(name);
  }
  return all;
}

sim::layout::kind sites_named(const std::string& name) {
  static constexpr std::string_view sites[] = {"four", "grown", "many", "three", "one"};
  return static_cast<sim::layout::kind>(index_of("--sites", name, sites));
}

std::vector<sim::scale_run> runs_of(const scale_options& o) {
  std::vector<std::string> wanted = with_numbers(o.strategies);
  if (wanted.empty()) wanted = sim::asking_names();
  std::vector<sim::scale_run> runs;
  for (const std::string& name : wanted) {
    for (const int workers : o.workers) {
      sim::scale_run run;
      run.where.what = sites_named(o.sites);
      run.where.workers = static_cast<unsigned>(workers);
      run.where.node_workers = static_cast<unsigned>(o.node_workers);
      run.whom = sim::read_asking(name);
      run.poll_every = cleave::net::instant(o.poll);
      run.node_cost = cleave::net::instant(o.cost);
      run.seed = static_cast<std::uint64_t>(o.seed);
      if (o.compare != 0) run.published = sim::compare_bytes(static_cast<unsigned>(o.compare));
      run.killed_every = cleave::net::instant(1'000 * o.killed_every);
      run.back_after = cleave::net::instant(1'000 * o.back_after);
      run.told_after = cleave::net::instant(1'000 * o.told_after);
      runs.push_back(run);
    }
  }
  return runs;
}

void print_row(const sim::scale_result& r) {
  std::string sites;
  for (std::size_t i = 0; i < std::min<std::size_t>(r.busy.size(), 4); ++i)
    sites += fmt::format(" {:5.1f}", 100 * r.busy[i]);
  fmt::print("{:<13} {:>7} {:>9.2f} {:>9.1f} {:>8.1f} % {:>8} {:>9} {:>9}  {}\n",
             sim::to_string(r.run.whom), r.run.where.workers, r.seconds, r.speedup,
             100 * r.efficiency, r.tasks, r.requests, r.messages, sites);
  std::fflush(stdout);
}

nlohmann::json json_of(const sim::scale_result& r) {
  return {{"strategy", sim::to_string(r.run.whom)},
          {"workers", r.run.where.workers},
          {"seconds", r.seconds},
          {"speedup", r.speedup},
          {"efficiency", r.efficiency},
          {"busy", r.busy},
          {"tasks", r.tasks},
          {"requests", r.requests},
          {"messages", r.messages},
          {"bytes", r.bytes}};
}

sim::tree tree_of(const scale_options& o) {
  const int programs =
      (o.queens != 0) + (o.fib != 0) + (o.grav != 0) + (o.compare != 0) + !o.pentomino.empty();
  if (programs > 1)
    throw apps::usage_error(
        "--queens, --fib, --grav, --compare, --pentomino: expected one of them");
  if (o.queens != 0) return sim::queens_tree(static_cast<unsigned>(o.queens));
  if (o.fib != 0) return sim::fib_tree(static_cast<unsigned>(o.fib));
  if (o.grav != 0) return sim::grav_tree(static_cast<unsigned>(o.grav));
  if (o.compare != 0) return sim::compare_tree(static_cast<unsigned>(o.compare));
  if (!o.pentomino.empty())
    return sim::pentomino_tree(o.pentomino, static_cast<unsigned>(o.descents));
  return sim::uts_tree(o.depth, o.tree_seed);
}

int run_scale(scale_options o) {
  if (!o.plot.empty()) apps::require_writable(o.plot);
  runs_of(o);  // mistakes are said before the tree is made
  const sim::tree work = tree_of(o);
  if (o.seconds != 0)
    o.cost = std::max(1, static_cast<int>(std::lround(1e6 * o.seconds / work.nodes())));
  const std::vector<sim::scale_run> runs = runs_of(o);
  if (!o.json) {
    fmt::print("{} nodes, {} us each: {:.0f} s by one worker\n", work.nodes(), o.cost,
               1e-6 * o.cost * work.nodes());
    fmt::print("{:<13} {:>7} {:>9} {:>9} {:>10} {:>8} {:>9} {:>9}   busy, % by site\n", "strategy",
               "workers", "seconds", "speedup", "efficiency", "tasks", "requests", "messages");
  }
  std::vector<sim::scale_result> results;
  nlohmann::json all = {{"nodes", work.nodes()},
                        {"node_us", o.cost},
                        {"sites", o.sites},
                        {"runs", nlohmann::json::array()}};
  for (const sim::scale_run& run : runs) {
    const auto told = [&](cleave::net::instant now, std::uint64_t visited) {
      fmt::print(stderr, "sim: {:.1f} s simulated, {:.1f} % of the nodes visited\n",
                 1e-6 * static_cast<double>(now.count()),
                 100.0 * static_cast<double>(visited) / work.nodes());
    };
    results.push_back(o.progress ? sim::run_scale(work, run, told) : sim::run_scale(work, run));
    all["runs"].push_back(json_of(results.back()));
    if (!o.json) print_row(results.back());
  }
  if (o.json) fmt::print("{}\n", all.dump());
  apps::flush_output();
  if (!o.plot.empty()) apps::save_file(o.plot, sim::plot(results));
  return 0;
}

sim::workers_run run_of(const node_options& o) {
  sim::workers_run run;
  run.gives = static_cast<sim::gift>(index_of("--gives", o.gives, sim::gift_names));
  run.waits = static_cast<sim::meanwhile>(index_of("--waits", o.waits, sim::meanwhile_names));
  run.asks = static_cast<sim::victim>(index_of("--asks", o.asks, sim::victim_names));
  run.loops_at_once = static_cast<unsigned>(o.loops);
  run.loops_left = static_cast<unsigned>(o.left);
  run.further_in = static_cast<unsigned>(o.further_in);
  run.further_in_for_waiting = static_cast<unsigned>(o.further_in_for_waiting);
  run.costs.node = o.node, run.costs.line = o.line, run.costs.answer = o.answer;
  run.costs.linger = o.linger, run.costs.all_after = o.all_after, run.costs.press = o.press;
  run.seed = static_cast<std::uint64_t>(o.seed);
  return run;
}

nlohmann::json json_of(const sim::workers_result& r) {
  return {{"workers", r.run.workers}, {"seconds", r.seconds},     {"speedup", r.speedup},
          {"computing", r.computing}, {"answering", r.answering}, {"waiting", r.waiting},
          {"idle", r.idle},           {"parts", r.parts},         {"taken_back", r.taken_back},
          {"deepest", r.deepest},     {"stacks", r.stacks}};
}

int run_node(const node_options& o) {
  sim::workers_run run = run_of(o);
  const sim::tree work = sim::uts_tree(o.tree);
  nlohmann::json all = {{"tree", o.tree},   {"nodes", work.nodes()},
                        {"gives", o.gives}, {"waits", o.waits},
                        {"asks", o.asks},   {"runs", nlohmann::json::array()}};
  if (!o.json)
    fmt::print("{:>7} {:>9} {:>8} {:>10} {:>10} {:>8} {:>6} {:>9} {:>8} {:>7}\n", "workers", "ms",
               "speedup", "computing", "answering", "waiting", "idle", "parts", "deepest",
               "stacks");
  for (const int workers : o.workers) {
    run.workers = static_cast<unsigned>(workers);
    const sim::workers_result r = sim::run_workers(work, run);
    all["runs"].push_back(json_of(r));
    if (o.json) continue;
    fmt::print(
        "{:>7} {:>9.2f} {:>8.2f} {:>8.1f} % {:>8.1f} % {:>6.1f} % {:>4.1f} % {:>9} {:>8} {:>7}\n",
        workers, 1e3 * r.seconds, r.speedup, 100 * r.computing, 100 * r.answering, 100 * r.waiting,
        100 * r.idle, r.parts, r.deepest, r.stacks);
    std::fflush(stdout);
  }
  if (o.json) fmt::print("{}\n", all.dump());
  return 0;
}

int run_lu(const lu_options& o) {
  nlohmann::json all = {{"rows", o.rows},
                        {"block", o.block},
                        {"sites", o.sites},
                        {"one_worker", o.seconds},
                        {"runs", nlohmann::json::array()}};
  std::string table = fmt::format("{:>7} {:>9} {:>9} {:>10} {:>9} {:>17}\n", "workers", "seconds",
                                  "speedup", "efficiency", "subtasks", "MB between sites");
  for (const int workers : o.workers) {
    sim::decomposition_run run{{sites_named(o.sites)}, o.rows, o.block, 1.0 * o.seconds};
    run.where.workers = static_cast<unsigned>(workers);
    const auto r = sim::run_decomposition(run);
    all["runs"].push_back({{"workers", workers},
                           {"seconds", r.seconds},
                           {"speedup", r.speedup},
                           {"subtasks", r.subtasks},
                           {"megabytes", r.megabytes}});
    table += fmt::format("{:>7} {:>9.2f} {:>9.1f} {:>8.1f} % {:>9} {:>17.0f}\n", workers, r.seconds,
                         r.speedup, 100 * r.speedup / workers, r.subtasks, r.megabytes);
  }
  fmt::print("{}", o.json ? all.dump() + "\n" : table);
  return 0;
}

int run_granularity(const granularity_options& o) {
  nlohmann::json out = nlohmann::json::array();
  std::string table = fmt::format("{:>7} {:>16}\n", "ranks", "microseconds");
  for (const int ranks : o.ranks) {
    const double found = sim::least_granularity(
        {static_cast<unsigned>(ranks),
         o.columns,
         o.steps,
         !o.all,
         o.spread / 100.0,
         static_cast<std::uint64_t>(o.seed),
         {o.subtask / 1e3, o.foreign / 1e3, o.sending / 1e3, o.receiving / 1e3, o.transit / 1e3}});
    out.push_back({{"ranks", ranks}, {"metg_50_us", found}});
    table += fmt::format("{:>7} {:>16.2f}\n", ranks, found);
  }
  fmt::print("{}", o.json ? out.dump() + "\n" : table);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  apps::command_line line(
      "sim", "Simulates the protocol between nodes. The same seed gives the same run.");
  apps::command_line faults(line, "faults",
                            "Random schedules of faults, with invariants after every event");
  faults_options f;
  faults.option_number("--seeds", f.seeds, 1, 1'000'000'000, "How many schedules (default: 200)");
  faults.option_number("--first", f.first, 0, 1'000'000'000, "The first one's seed (default: 1)");
  faults.option("--fault", "NAME", f.fault, "Plants a fault into the protocol (default: none)");
  faults.flag("--log", f.log, "Runs one schedule and prints its events");
  faults.flag("--json", f.json, "Prints one JSON object");
  apps::command_line scale(line, "scale", "A large tree shared by many nodes, by whom they ask");
  scale_options s;
  scale.option_number("--node-workers", s.node_workers, 0, 65'536,
                      "Workers of a node at most (default: 0, as the sites have them)");
  scale.option_numbers("--workers", s.workers, 1, 65'536, "How many (default: 4 to 256)");
  scale.option_list("--strategies", "NAME", s.strategies, "Whom to ask (default: all)");
  scale.option("--sites", "NAME", s.sites, "four, grown, many, three or one (default: four)");
  scale.option_number("--cost", s.cost, 1, 1'000'000,
                      "Microseconds for each node of the tree (default: 40)");
  scale.option_number("--poll", s.poll, 0, 1'000'000,
                      "Microseconds between two looks for requests (default: 0, 100 at most)");
  scale.option_number("--depth", s.depth, 1, 14, "Of the tree (default: 13, which is UTS's T1L)");
  scale.option_number("--tree", s.tree_seed, 0, 1'000'000, "Its seed (default: 29)");
  scale.option_number("--seed", s.seed, 0, 1'000'000'000,
                      "Of what is random in the run (default: 1)");
  scale.option_number("--killed-every", s.killed_every, 0, 1'000'000,
                      "Milliseconds from one node's death to the next one's (default: 0, none)");
  scale.option_number("--back-after", s.back_after, 0, 1'000'000,
                      "Milliseconds from a death until another node joins (default: 0, a tenth)");
  scale.option_number("--told-after", s.told_after, 0, 1'000'000,
                      "Milliseconds until the others hear of a death (default: 3000)");
  scale.option_number("--seconds", s.seconds, 1, 1'000'000,
                      "What one worker takes for all, in the place of --cost");
  scale.option_number("--queens", s.queens, 0, 18,
                      "The tree of a search for that many queens instead (default: 0, UTS's)");
  scale.option_number("--fib", s.fib, 22, 60, "The calls of fib(N) instead");
  scale.option_number("--grav", s.grav, 1, 5'000, "The loops over (2N+1)^3 particles instead");
  scale.option_number("--compare", s.compare, 2, 10'000'000,
                      "All pairs of two arrays of N numbers instead, which are published");
  scale.option("--pentomino", "FILE", s.pentomino, "The search for that board's covers instead");
  scale.option_number("--descents", s.descents, 1, 1'000'000,
                      "Estimate what is below five of its placements by so many random descents, "
                      "in the place of the whole search");
  scale.option("--plot", "FILE", s.plot, "Draws efficiency by workers (SVG)");
  scale.flag("--progress", s.progress, "Says on stderr how far a run is, each simulated second");
  scale.flag("--json", s.json, "Prints one JSON object");
  apps::command_line node(line, "node", "The workers of one node that share a tree of UTS");
  node_options n;
  std::vector<std::string> trees;
  for (const auto& sample : apps::uts::samples) trees.emplace_back(sample.name);
  node.option_choice("--tree", n.tree, trees, "One of UTS's (default: T3)");
  node.option_numbers("--workers", n.workers, 1, 4'096, "How many (default: 2, 4, 16, 64)");
  node.option("--gives", "NAME", n.gives, "half, rest or loops (default: rest)");
  node.option_number("--loops", n.loops, 1, 1'024, "With loops: how many at most (default: 8)");
  node.option_number("--left", n.left, 1, 1'024,
                     "With rest: how many loops with something left are kept (default: 8)");
  node.option("--waits", "NAME", n.waits,
              "What a worker runs that waits: descendants, deeper, leave (default: descendants)");
  node.option("--asks", "NAME", n.asks, "runner, chain or largest (default: runner)");
  node.option_number("--further-in", n.further_in, 0, 1'000,
                     "How many loops a gift leaves further in (default: 1)");
  node.option_number("--further-in-for-waiting", n.further_in_for_waiting, 0, 1'000,
                     "The same for who waits for what runs there (default: 5)");
  node.option_number("--node", n.node, 1, 1'000'000, "ns for a node of the tree (default: 60)");
  node.option_number("--line", n.line, 0, 1'000'000, "ns until others see a write (default: 100)");
  node.option_number("--answer", n.answer, 0, 1'000'000, "ns for an answer (default: 200)");
  node.option_number("--linger", n.linger, 0, 1'000'000,
                     "ns until a join asks for work (default: 200)");
  node.option_number("--all-after", n.all_after, 1, 1'000'000'000,
                     "ns until a request asks all (default: 1000)");
  node.option_number("--press", n.press, 1, 1'000'000'000,
                     "ns until it asks all again (default: 20000)");
  node.option_number("--seed", n.seed, 0, 1'000'000'000, "Of what is random (default: 1)");
  node.flag("--json", n.json, "Prints one JSON object");
  apps::command_line lu(line, "lu", "The graph of `lu N --graph`, at sites");
  lu_options d;
  lu.number("N", d.rows, 1, 100'000, "Rows of the matrix");
  lu.option_number("--block", d.block, 16, 100'000, "Rows of a block (default: 128)");
  lu.option_numbers("--workers", d.workers, 1, 65'536, "How many (default: 4, 16, 64, 256)");
  lu.option("--sites", "NAME", d.sites, "four, grown, many, three or one (default: four)");
  lu.option_number("--seconds", d.seconds, 1, 1'000'000'000,
                   "What one worker takes (default: 5645)");
  lu.flag("--json", d.json, "Prints one JSON object");
  apps::command_line metg(line, "metg", "The least worthwhile length of a stencil's subtasks");
  granularity_options m;
  metg.option_numbers("--ranks", m.ranks, 1, 65'536, "How many (default: 2, 16, 128, 1024)");
  metg.option_number("--columns", m.columns, 1, 4'096, "Of each rank (default: 8)");
  metg.option_number("--steps", m.steps, 2, 100'000, "Steps (default: 50)");
  metg.option_number("--spread", m.spread, 0, 100,
                     "Percent by which a subtask is longer or shorter (default: 10)");
  metg.option_number("--subtask", m.subtask, 0, 1'000'000, "ns for one (default: 634)");
  metg.option_number("--foreign", m.foreign, 0, 1'000'000, "ns to make another's (default: 160)");
  metg.option_number("--sending", m.sending, 0, 1'000'000'000, "ns for a value (default: 1050)");
  metg.option_number("--receiving", m.receiving, 0, 1'000'000'000, "The same (default: 1350)");
  metg.option_number("--transit", m.transit, 0, 1'000'000'000, "The same (default: 300)");
  metg.option_number("--seed", m.seed, 0, 1'000'000'000, "Of the spread (default: 1)");
  metg.flag("--all", m.all, "All ranks make the whole graph, in the place of for_mine");
  metg.flag("--json", m.json, "Prints one JSON object");
  line.parse(argc, argv);
  const std::string command = argc > 1 ? argv[1] : "";
  const int status = command == "scale"  ? run_scale(s)
                     : command == "node" ? run_node(n)
                     : command == "lu"   ? run_lu(d)
                     : command == "metg" ? run_granularity(m)
                                         : run_faults(f);
  apps::flush_output();
  return status;
} catch (...) { return apps::failed("sim"); }
