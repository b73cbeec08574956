#include "program.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "support/command_line.hpp"

namespace bench {
namespace {

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + long(of.size() / 2), of.end());
  return of[of.size() / 2];
}

// The seconds that an amount of 1 takes, measured by a large one.
double seconds_of_work() {
  constexpr std::uint64_t amount = 2'000'000;
  std::vector<double> all;
  for (int i = 0; i < 9; i++) {
    const double begin = now();
    consume(amount);
    all.push_back((now() - begin) / amount);
  }
  return *std::min_element(all.begin(), all.end());
}

// A system with subtasks of one length.
struct point {
  double granularity;  // seconds that a worker spends for each subtask
  double efficiency;   // the part of them in which it computes
};

// The granularity at which the efficiency falls to `wanted`, between the points around it.
std::optional<double> least(const std::vector<point>& curve, double wanted) {
  for (std::size_t i = 1; i < curve.size(); i++) {
    const point &above = curve[i - 1], &below = curve[i];
    if (above.efficiency < wanted || below.efficiency >= wanted) continue;
    const double part = (above.efficiency - wanted) / (above.efficiency - below.efficiency);
    return above.granularity * std::pow(below.granularity / above.granularity, part);
  }
  return std::nullopt;
}

}  // namespace

int measure_granularity(const graph_program& of, int argc, char** argv) try {
  grid g;
  std::string dependences;
  int workers = 1, rounds = 5, longest = 20;
  g.width = 16, g.steps = 1000;
  apps::command_line line(
      of.name,
      "Measures how long a subtask must be, in microseconds, for workers to compute for 50 % and\n"
      "75 % of the time (METG of Task Bench), the making of the graph included.");
  const std::vector<std::string> names = {"trivial", "stencil", "fft"};
  line.choice("PATTERN", dependences, names, "What subtasks read of the step before");
  line.option_number("--width", g.width, 1, 4096, "Subtasks of a step (default: 16)");
  line.option_number("--steps", g.steps, 2, 1'000'000, "Steps (default: 1000)");
  line.option_number("--workers", workers, 1, 1024, "Workers, in one process (default: 1)");
  line.option_number("--rounds", rounds, 1, 1000, "Runs with each length (default: 5)");
  line.option_number("--longest", longest, 1, 100'000,
                     "Microseconds of the longest subtasks tried (default: 20)");
  line.parse(argc, argv);
  g.dependences = pattern(std::find(names.begin(), names.end(), dependences) - names.begin());
  of.start(workers);
  const int all_workers = of.workers();
  const double unit = of.from_leader(seconds_of_work());  // all end at the same length
  const double tasks = double(g.width) * g.steps;
  std::vector<point> curve;
  of.run(g);
  for (double length = longest * 1e-6; length > 2e-9; length /= 1.5) {
    g.amount = std::uint64_t(length / unit);
    std::vector<double> seconds;
    for (int i = 0; i < rounds; i++) seconds.push_back(of.run(g));
    const double granularity = median(seconds) * all_workers / tasks;
    curve.push_back({granularity, double(g.amount) * unit / granularity});
    if (curve.back().efficiency < 0.4) break;
  }
  if (!of.leads()) return 0;
  nlohmann::ordered_json o{{"system", of.name},
                           {"pattern", dependences},
                           {"width", g.width},
                           {"steps", g.steps},
                           {"workers", all_workers}};
  for (const double wanted : {0.5, 0.75}) {
    const auto at = least(curve, wanted);
    auto& told = o["metg_" + std::to_string(int(wanted * 100)) + "_us"];
    if (at) told = *at * 1e6;
    else told = nullptr;
  }
  for (const point& p : curve)
    o["curve"].push_back({{"granularity_us", p.granularity * 1e6}, {"efficiency", p.efficiency}});
  std::puts(o.dump().c_str());
  return 0;
} catch (...) { return apps::failed(of.name); }

}  // namespace bench
