#include "program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "support/command_line.hpp"

namespace bench {
namespace {

nlohmann::ordered_json report_of(const system_program& of, const kernel& k, const settings& with) {
  nlohmann::ordered_json o;
  o["system"] = of.name;
  o["version"] = of.version;
  o["kernel"] = k.name;
  o["size"] = with.size == size::full ? "full" : "quick";
  o["workers"] = with.workers;
  try {
    const result r = (with.account ? k.accounted : k.timed)(with);
    o["arguments"] = r.arguments;
    o["answer"] = r.answer;
    o["right"] = r.answer == r.expected;
    if (r.answer != r.expected)
      throw kernel_error("wrong answer: " + r.answer + ", not " + r.expected);
    o["seconds"] = r.seconds;
    o["cycles"] = r.cycles;
    if (r.tasks > 0) o["tasks"] = r.tasks;
    if (!r.series.empty()) o["series"] = r.series;
    if (r.work > 0) o["work"] = r.work, o["span"] = r.span;
    if (with.account && r.shares) {
      const auto& s = *r.shares;
      const double all = s.elapsed * with.workers;
      o["shares"] = {{"elapsed", all},
                     {"work", s.work},
                     {"api", s.api},
                     {"stolen", s.stolen},
                     {"rest", all - s.work - s.api - s.stolen}};
    }
    if (r.profile) o["profile"] = {{"work", r.profile->work}, {"span", r.profile->span}};
  } catch (const std::exception& e) { o["failed"] = e.what(); }
  return o;
}

}  // namespace

void give_up(const char* system, const std::string& version, const char* why) {
  const nlohmann::ordered_json o{{"system", system}, {"version", version}, {"failed", why}};
  std::puts(o.dump().c_str());
  std::fflush(stdout);
  _exit(0);
}

int run_program(const system_program& of, int argc, char** argv) try {
  settings with;
  std::string name;
  bool full = false;
  std::vector<std::string> names;
  for (const kernel& k : of.kernels) names.emplace_back(k.name);
  apps::command_line line(of.name, "Runs one of the study's kernels on one task system.");
  line.choice("KERNEL", name, names, "Which");
  line.option_number("--workers", with.workers, 1, 1024, "How many (default: 1)");
  line.option_number("--rounds", with.rounds, 1, 100'000, "How many rounds are reported");
  line.flag("--full", full, "The large problem");
  line.flag("--account", with.account,
            "Tell where the time goes, by clocks around every task; of whole programs only");
  if (of.profiles)
    line.flag("--profile", with.profile,
              "Measure work and span; of whole programs only, on one worker");
  line.parse(argc, argv);
  if (full) with.size = size::full;
  const kernel& chosen = *std::find_if(of.kernels.begin(), of.kernels.end(),
                                       [&](const kernel& k) { return k.name == name; });
  if (with.account && chosen.accounted == nullptr)
    throw apps::usage_error("--account: not of spawn, migrate and spread");
  if (with.profile && (chosen.accounted == nullptr || with.workers != 1))
    throw apps::usage_error("--profile: only of whole programs, on one worker");
  std::puts(report_of(of, chosen, with).dump().c_str());
  return 0;
} catch (...) { return apps::failed(of.name); }

}  // namespace bench
