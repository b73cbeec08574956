// sim: the protocol between nodes in a world where everything may go wrong, and how it scales.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "sim/faults.hpp"

namespace {

struct faults_options {
  int seeds = 200, first = 1;
  std::string fault = "none";
  bool log = false, json = false;
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

/// Runs the schedules; prints the log of the first that fails. Exit status 1 if one does.
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
        {"schedules", all.run},       {"failed", all.failed}, {"first_failed", all.first_failed},
        {"violation", all.violation}, {"events", all.events}, {"messages", all.messages},
        {"tasks", all.tasks}};
    fmt::print("{}\n", out.dump());
  } else {
    fmt::print("{} schedules, {} failed; {} events, {} messages, {} tasks between nodes\n", all.run,
               all.failed, all.events, all.messages, all.tasks);
  }
  if (all.failed == 0) return 0;
  fmt::print(stderr, "sim: seed {}: {}\n", all.first_failed, all.violation);
  fmt::print(stderr, "sim: its events: sim faults --first {} --log\n", all.first_failed);
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  apps::command_line line(
      "sim", "Simulates the protocol between nodes. The same seed gives the same run.");
  apps::command_line faults(line, "faults",
                            "Random schedules of faults, with invariants after every event");
  faults_options o;
  faults.option_number("--seeds", o.seeds, 1, 1'000'000'000, "How many schedules (default: 200)");
  faults.option_number("--first", o.first, 0, 1'000'000'000, "The first one's seed (default: 1)");
  faults.option("--fault", "NAME", o.fault, "Plants a fault into the protocol (default: none)");
  faults.flag("--log", o.log, "Runs one schedule and prints its events");
  faults.flag("--json", o.json, "Prints one JSON object");
  line.parse(argc, argv);
  return run_faults(o);
} catch (...) { return apps::failed("sim"); }
