#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/recorded_graph.hpp"
#include "graph/schedule.hpp"
#include "study/net_file.hpp"
#include "support/command_line.hpp"
#include "support/input_error.hpp"

namespace plan {
namespace {

using cleave::detail::machine_model;
using cleave::detail::recorded_graph;
using cleave::detail::schedule;

// Microseconds made seconds.
double seconds(double microseconds) { return 1e-6 * microseconds; }

struct kind {
  std::string name;
  std::size_t count = 0;
  double time = 0;
};

// The kinds of subtasks; those that take the longest come first.
std::vector<kind> kinds_of(const recorded_graph& g) {
  std::vector<kind> kinds;
  for (const std::string& name : g.names) kinds.push_back({name});
  for (const auto& s : g.subtasks) {
    kinds[s.name].count++;
    kinds[s.name].time += s.duration;
  }
  std::ranges::sort(kinds, std::greater<>(), &kind::time);
  return kinds;
}

const char* name(schedule::method by) {
  switch (by) {
    case schedule::method::as_recorded: return "as recorded";
    case schedule::method::critical_path: return "critical path";
    case schedule::method::partition: return "partition";
    case schedule::method::in_order: return "in order";
  }
  return "";
}

struct forecast {
  machine_model on;
  schedule best;
  double speedup = 0;
};

struct summary {
  recorded_graph g;
  std::string network;  // whose messages are meant; empty: those of the run that was recorded
  std::vector<kind> kinds;
  double work = 0, span = 0;
  std::vector<forecast> forecasts;
};

void print(const summary& s) {
  fmt::print("recorded     {} subtasks, {} data, on {}\n", s.g.subtasks.size(), s.g.bytes.size(),
             s.g.of_ranks ? fmt::format("{} MPI ranks", s.g.nodes)
                          : fmt::format("{} nodes of {} workers", s.g.nodes, s.g.workers));
  fmt::print("work         {:.4f} s\n", seconds(s.work));
  fmt::print("span         {:.4f} s: the longest path of subtasks that wait for each other\n",
             seconds(s.span));
  const auto row = [](const char* what, const cleave::detail::message_costs::cost& c,
                      const std::string& of = "") {
    fmt::print("{:<12} {:.1f} us, and {:.3f} us for each 1000 bytes{}\n", what, c.fixed,
               1000 * c.per_byte, of.empty() ? "" : ": " + of);
  };
  row("sending", s.g.messages.sending);
  row("transit", s.g.messages.transit, s.network);
  row("receiving", s.g.messages.receiving);
  fmt::print("\n{:<16} {:>9} {:>10} {:>9}\n", "subtask", "count", "seconds", "mean us");
  for (const kind& k : s.kinds)
    fmt::print("{:<16} {:>9} {:>10.4f} {:>9.2f}\n", k.name, k.count, seconds(k.time),
               k.count == 0 ? 0 : k.time / static_cast<double>(k.count));
  fmt::print("\n{:>5} {:>8} {:>10} {:>8} {:>11}  {}\n", "nodes", "workers", "seconds", "speedup",
             "efficiency", "placed by");
  for (const forecast& f : s.forecasts)
    fmt::print("{:>5} {:>8} {:>10.4f} {:>8.2f} {:>9.1f} %  {}\n", f.on.nodes, f.on.workers,
               seconds(f.best.time), f.speedup, 100 * f.speedup / (f.on.nodes * f.on.workers),
               name(f.best.by));
}

void print_json(const summary& s) {
  nlohmann::ordered_json object;
  object["subtasks"] = s.g.subtasks.size();
  object["data"] = s.g.bytes.size();
  object["nodes"] = s.g.nodes, object["workers"] = s.g.workers;
  object["work"] = seconds(s.work), object["span"] = seconds(s.span);
  const auto cost = [](const cleave::detail::message_costs::cost& c) {
    return nlohmann::ordered_json{{"us", c.fixed}, {"us_per_byte", c.per_byte}};
  };
  object["messages"] = {{"sending", cost(s.g.messages.sending)},
                        {"transit", cost(s.g.messages.transit)},
                        {"receiving", cost(s.g.messages.receiving)}};
  if (!s.network.empty()) object["network"] = s.network;
  object["kinds"] = nlohmann::ordered_json::array();
  for (const kind& k : s.kinds)
    object["kinds"].push_back({{"name", k.name}, {"count", k.count}, {"seconds", seconds(k.time)}});
  object["forecasts"] = nlohmann::ordered_json::array();
  for (const forecast& f : s.forecasts)
    object["forecasts"].push_back({{"nodes", f.on.nodes},
                                   {"workers", f.on.workers},
                                   {"seconds", seconds(f.best.time)},
                                   {"speedup", f.speedup},
                                   {"placed_by", name(f.best.by)}});
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

struct parts {
  std::string file, network, transport;
  std::vector<int> nodes;
  int workers = 0;
  bool json = false;
  apps::command_line line;

  explicit parts(apps::command_line& program)
      : line(program, "plan",
             "Tell what is in a recorded graph, and how long it would take on more nodes") {
    line.text("FILE", file, "what team_graph or `cleave record` has recorded");
    line.option_numbers("--nodes", nodes, 1, 4096,
                        "How many (default: 1, 2, 4, 8, 16; of an MPI program up to its ranks)");
    line.option_number("--workers", workers, 1, 4096,
                       "On each of them (default: as when it was recorded)");
    line.option("--network", "FILE", network,
                "Messages as over this network: the network.json of `cleave study net`");
    line.option("--transport", "NAME", transport,
                "Which of its networks (default: the first of Cleave's transports; of an MPI "
                "program the first of plain MPI)");
    line.flag("--json", json, "Print one JSON object instead of tables");
  }
};

class group final : public apps::command_group {
public:
  explicit group(apps::command_line& program) : parts_(program) {}
  bool given() const override { return parts_.line.parsed(); }
  int run() override;

private:
  parts parts_;
};

// What a worker does with a value stays as it was recorded. Between the nodes' memories a message
// takes half of LogGP's round trip.
void take_network(summary& s, const std::string& file, const std::string& name) {
  const auto network = study::networks::network_in(file, name, s.g.of_ranks);
  s.network = network.name;
  s.g.messages.transit = {1e6 * (network.is.latency + 2 * network.is.overhead),
                          1e6 * network.is.gap_per_byte};
}

std::vector<int> usual_nodes(const recorded_graph& g) {
  std::vector<int> nodes{1, 2, 4, 8, 16};
  if (g.of_ranks) {
    const auto ranks = static_cast<int>(g.nodes);
    std::erase_if(nodes, [&](int n) { return n >= ranks; });
    nodes.push_back(ranks);
  }
  return nodes;
}

int group::run() {
  summary s;
  if (parts_.network.empty() && !parts_.transport.empty())
    throw apps::usage_error("--transport: expected --network too");
  try {
    s.g = cleave::detail::read_recorded_graph(parts_.file);
  } catch (const std::runtime_error& e) { throw apps::usage_error(e.what()); }
  if (!parts_.network.empty()) take_network(s, parts_.network, parts_.transport);
  s.kinds = kinds_of(s.g);
  for (const kind& k : s.kinds) s.work += k.time;
  s.span = critical_path(s.g);
  auto nodes = parts_.nodes;
  if (nodes.empty()) nodes = usual_nodes(s.g);
  for (const int n : nodes) {
    if (s.g.of_ranks && static_cast<unsigned>(n) > s.g.nodes)
      throw apps::usage_error(fmt::format(
          "--nodes: expected at most {}, as {} is a run of {} ranks, which are not divided, got {}",
          s.g.nodes, parts_.file, s.g.nodes, n));
    const unsigned workers =
        parts_.workers != 0 ? static_cast<unsigned>(parts_.workers) : s.g.workers;
    forecast f{{static_cast<unsigned>(n), workers, s.g.messages}, {}, 0};
    f.best = best_schedule(s.g, f.on);
    f.speedup = f.best.time > 0 ? s.work / f.best.time : 1;
    s.forecasts.push_back(std::move(f));
  }
  parts_.json ? print_json(s) : print(s);
  return 0;
}

}  // namespace

std::unique_ptr<apps::command_group> commands(apps::command_line& program) {
  return std::make_unique<group>(program);
}

}  // namespace plan
