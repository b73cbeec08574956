#include "md_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "cpus.hpp"
#include "interrupt.hpp"
#include "mpi_here.hpp"
#include "net_file.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace study::dynamics {
namespace {

using names = std::vector<std::string>;
using cleave::detail::recorded_graph;
constexpr int most_blocks = 7;  // in each direction, as in the paper

int or_usual(int asked, int usual) { return asked > 0 ? asked : usual; }

std::vector<int> sorted(std::vector<int> all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

names mpis_of(const names& asked, names& missing) {
  names all;
  for (const std::string& mpi : asked.empty() ? names{"openmpi", "mpich"} : asked) {
    if (mpi == "none") continue;
    if (mpi != "openmpi" && mpi != "mpich")
      throw apps::usage_error("--mpi: expected some of openmpi, mpich, none, got '" + mpi + "'");
    const auto lacks = missing_for_jobs(mpi);
    if (lacks.empty()) all.push_back(mpi);
    else if (!asked.empty()) throw apps::usage_error(fmt::format("--mpi: {}: {}", mpi, lacks));
    else missing.push_back(lacks);
  }
  return all;
}

bool is_recorded(const cell& run) { return run.by == "simulated"; }

// What one run tells of its two ways, which must have found the same.
cell read_answer(const cell& run, const std::string& said, nlohmann::json& answer) {
  const auto at = said.find('{');
  if (at == std::string::npos) throw std::runtime_error("says nothing");
  const auto o = nlohmann::json::parse(said.substr(at, said.find('\n', at) - at));
  if (o.at("workers") != run.nodes)
    throw std::runtime_error("an answer of " + o.at("workers").dump() + " workers");
  if (answer.is_null()) answer = o.at("answer");
  if (o.at("answer") != answer)
    throw std::runtime_error("another answer: " + o.at("answer").dump() + ", not " + answer.dump());
  cell c = run;
  for (const auto& name : {"seconds", "cpu_seconds"}) c.values[name] = {o.at(name).get<double>()};
  for (const auto& name : rank_values) {
    const auto all = o.at(name).get<std::vector<double>>();
    double sum = 0;
    for (const double each : all) sum += each;
    c.values[name] = {sum / run.nodes};
    c.ranks[name] = {all};
  }
  return c;
}

class experiment : public passes<experiment, measured> {
public:
  experiment(const settings& asked, const listener& to)
      : passes(asked, to), program_(asked.cleave.parent_path() / "md") {
    if (!std::filesystem::exists(program_)) throw std::runtime_error("no " + program_.string());
    leave_jobs();
    if (asked.goes_on) {
      require_same_machine();
    } else {
      m_.machine = apps::processor(), m_.cpus = static_cast<int>(cpus_allowed().size());
      m_.what = plan_of(asked.what, m_.cpus, m_.missing);
    }
    std::ofstream(settings_file()) << peptide_settings;
    begin();
  }

  std::vector<cell> runs(int pass) const { return runs_of(m_.what, pass); }
  static std::string name(const cell& run) {
    return is_recorded(run) ? run.system + ", recorded" : run.name();
  }
  bool is_left_out(const cell& run) const { return has_failed(run); }
  std::vector<cell> measure(const cell& run, int) {
    return measured_or_failed(
        run, [&] { return is_recorded(run) ? simulated(run) : std::vector{result_of(run)}; });
  }
  static void add(std::vector<cell>& to, const cell& one) {
    cell* const same = same_cell(to, one);
    if (same == nullptr) return;
    for (const auto& [name, values] : one.values) same->values[name].push_back(values[0]);
    for (const auto& [name, values] : one.ranks) same->ranks[name].push_back(values[0]);
  }
  std::string why_nothing() const { return first_failure(); }
  measured so_far() const {
    measured m = m_;
    m.beside = machine_.so_far();
    const auto place = [&m](const cell& c) {
      const auto& all = m.what.systems;
      const auto at = std::ranges::find(all, c.system, &system::name) - all.begin();
      return std::tuple(at, is_recorded(c), c.nodes, c.by, c.how);
    };
    std::ranges::sort(m.cells, {}, place);
    return m;
  }

private:
  std::string settings_file() const { return work_.path() / "settings"; }
  // Where the run finds its plan, or records one.
  std::string plan_file(const cell& run) const {
    return work_.path() / (is_recorded(run) ? "graph" : run.system + ", " + name_of(run.how));
  }
  void require_same_machine() const {
    require_same_processor();
    for (const auto& mpi : m_.what.mpis)
      if (const auto why = missing_for_jobs(mpi); !why.empty())
        throw apps::usage_error(fmt::format("--resume: {}: {}", mpi, why));
  }
  std::string said_by(const cell& run) {
    if (has_plan(run.how) && !std::filesystem::exists(plan_file(run)))
      throw std::runtime_error("no run was recorded");
    const auto command = command_of(run, m_.what, program_, settings_file(), plan_file(run));
    return study::said_by(command, work_.path() / "err", last_);
  }
  cell result_of(const cell& run) { return read_answer(run, said_by(run), answers_[run.system]); }
  recorded_graph recorded(const cell& run) {
    std::filesystem::remove(plan_file(run));
    said_by(run);
    return cleave::detail::read_recorded_graph(plan_file(run));
  }
  std::vector<cell> simulated(const cell& run) {
    std::vector<recorded_graph> all;
    while (std::ssize(all) < m_.what.recordings) all.push_back(recorded(run));
    auto g = with_median_durations(all);
    if (!m_.what.network.empty()) g.messages.transit = m_.what.messages.transit;
    m_.what.messages = g.messages;
    for (const way by : {way::initial_plan, way::improved_plan})
      write_recorded_graph(graph_of_plan(g, by), plan_file({run.system, "", 1, by, {}, {}}));
    auto& of = *std::ranges::find(m_.what.systems, run.system, &system::name);
    of.blocks = static_cast<int>(blocks_of(g).count);
    std::erase_if(m_.timelines, [&run](const timeline& t) { return t.system == run.system; });
    m_.timelines.push_back(simulated_timeline(g, m_.what, run.system));
    return simulated_cells(g, m_.what, run.system);
  }

  std::filesystem::path program_;
  scratch work_;
  std::map<std::string, nlohmann::json> answers_;  // of each system
};

// A stretch from the middle of a run, that long. What could not be seen in it is left out, and
// messages one after the other are one span.
timeline::part stretch_of(const simulated_run& run, way how, double length) {
  timeline::part p{how, 1e-6 * length, {}, run.nodes};
  const double begin = std::max(0.0, (run.time - length) / 2), end = begin + length;
  std::vector<std::size_t> last(run.nodes.size(), ~std::size_t{0});  // each node's last span
  auto spans = run.spans;
  std::ranges::sort(spans, {},
                    [](const span_of_node& s) { return std::tuple(s.begin, s.end, s.node); });
  const double seen = length / 4000;
  for (span_of_node s : spans) {
    if (s.end <= begin || s.begin >= end) continue;
    s.begin = std::max(s.begin, begin) - begin, s.end = std::min(s.end, end) - begin;
    if (const auto k = last[s.node]; k != ~std::size_t{0} && p.spans[k].what == s.what &&
                                     s.what == span_of_node::telling &&
                                     s.begin - p.spans[k].end < seen) {
      p.spans[k].end = s.end;
      continue;
    }
    last[s.node] = p.spans.size();
    p.spans.push_back(s);
  }
  std::erase_if(p.spans, [seen](const span_of_node& s) { return s.end - s.begin < seen; });
  return p;
}

}  // namespace

plan plan_of(const choice& asked, int cpus, names& missing) {
  plan p;
  p.quick = asked.quick;
  p.systems = systems_of(asked.systems, asked.quick, asked.where, missing);
  p.mpis = mpis_of(asked.mpis, missing);
  p.ranks = asked.ranks;
  if (p.ranks.empty())
    for (int n = 2; n <= std::max(cpus, 2); n *= 2) p.ranks.push_back(n);
  p.ranks.push_back(1);
  p.ranks = sorted(p.ranks);
  p.nodes = sorted(!asked.nodes.empty() ? asked.nodes
                   : asked.quick        ? std::vector{1, 2, 8, 27}
                                        : std::vector{1, 2, 4, 8, 16, 32, 64, 125, 175});
  p.steps = or_usual(asked.steps, asked.quick ? 4 : 20);
  p.passes = or_usual(asked.passes, asked.quick ? 1 : 5);
  p.recordings = asked.quick ? 1 : 3;
  if (!asked.network.empty()) {  // a message takes half of LogGP's round trip, as in `cleave plan`
    const auto [name, is] = networks::network_in(asked.network, asked.transport, false);
    p.network = name;
    p.messages.transit = {1e6 * (is.latency + 2 * is.overhead), 1e6 * is.gap_per_byte};
  } else if (!asked.transport.empty()) {
    throw apps::usage_error("--transport: expected --network too");
  }
  return p;
}

std::vector<cell> runs_of(const plan& p, int pass) {
  std::vector<cell> all, recorded;
  for (const auto& s : p.systems)
    for (const int n : p.ranks) {
      names ways_to_join{"workers"};
      if (n > 1) ways_to_join.insert(ways_to_join.end(), p.mpis.begin(), p.mpis.end());
      for (const auto& by : ways_to_join)
        for (const way how : all_ways)
          if (how != way::loose && (by != "workers" || !allocates(how)))
            all.push_back({s.name, by, n, how, {}, {}});
    }
  if (pass % 2 == 0) std::ranges::reverse(all);
  for (const auto& s : p.systems)
    recorded.push_back({s.name, "simulated", 1, way::dependences, {}, {}});
  all.insert(all.begin(), recorded.begin(), recorded.end());
  return all;
}

names command_of(const cell& run, const plan& p, const std::string& program,
                 const std::string& settings_file, const std::string& plan_file) {
  names c;
  const std::string mpi = run.by == "workers" || is_recorded(run) ? "" : run.by;
  if (!mpi.empty()) {
    c.push_back(mpirun_of(mpi));
    if (mpi == "openmpi") c.insert(c.end(), {"--oversubscribe", "--bind-to", "none"});
    c.insert(c.end(), {"-n", std::to_string(run.nodes)});
  }
  c.push_back(program);
  for (const auto& word : std::ranges::find(p.systems, run.system, &system::name)->arguments)
    c.push_back(word == "SETTINGS" ? settings_file : word);
  c.insert(c.end(), {"--steps", std::to_string(p.steps), "--blocks", std::to_string(most_blocks),
                     "--workers", std::to_string(mpi.empty() ? run.nodes : 1), "--json"});
  if (run.how == way::synchronous) c.emplace_back("--synchronous");
  if (run.how == way::dynamic) c.emplace_back("--dynamic");
  if (is_recorded(run) || has_plan(run.how)) c.insert(c.end(), {"--plan", plan_file});
  return c;
}

recorded_graph with_median_durations(const std::vector<recorded_graph>& all) {
  recorded_graph g = all.at(0);
  for (const auto& other : all)
    if (other.subtasks.size() != g.subtasks.size())
      throw std::runtime_error("two recorded graphs of the same run differ");
  for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
    std::vector<double> durations;
    for (const auto& each : all) durations.push_back(each.subtasks[i].duration);
    g.subtasks[i].duration = median(durations);
  }
  return g;
}

std::vector<cell> simulated_cells(const recorded_graph& g, const plan& p,
                                  const std::string& system) {
  std::vector<cell> all;
  const auto blocks = blocks_of(g);
  for (const int n : p.nodes) {
    const auto nodes = static_cast<unsigned>(n);
    if (nodes > blocks.count) break;
    for (const way how : all_ways) {
      if (n == 1 && allocates(how)) continue;
      const auto run = simulate(g, g.messages, nodes_of_subtasks(g, how, nodes), nodes, how);
      cell c{system, "simulated", n, how, {}, {}};
      c.values["seconds"] = {1e-6 * run.time};
      node_times sum;
      for (const node_times& each : run.nodes)
        sum.computing += each.computing, sum.communicating += each.communicating,
            sum.waiting += each.waiting;
      c.values["computing"] = {1e-6 * sum.computing / n};
      c.values["communicating"] = {1e-6 * sum.communicating / n};
      c.values["waiting"] = {1e-6 * sum.waiting / n};
      all.push_back(std::move(c));
    }
  }
  return all;
}

timeline simulated_timeline(const recorded_graph& g, const plan& p, const std::string& system) {
  const auto blocks = blocks_of(g);
  constexpr int most = 64;  // as in the paper
  timeline t{system, 1, g.names, {}};
  for (const int n : p.nodes)
    if (n <= most && n <= static_cast<int>(blocks.count)) t.nodes = n;
  const auto nodes = static_cast<unsigned>(t.nodes);
  const auto of = [&](way how) {
    return simulate(g, g.messages, slabs(blocks, nodes), nodes, how);
  };
  const auto free = of(way::dependences), strict = of(way::synchronous);
  const double length = strict.time / (p.steps + 1);  // one step
  t.parts = {stretch_of(free, way::dependences, length),
             stretch_of(strict, way::synchronous, length)};
  return t;
}

measured run_study(const settings& asked, const listener& to) {
  const until_interrupted watching;
  return experiment(asked, to).run();
}

}  // namespace study::dynamics
