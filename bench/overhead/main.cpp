// overhead: what the constructs cost. The plain sequential program, one worker and all workers of
// every application, measured in turn.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cleave/runtime.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "series.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace {

using namespace overhead;

struct settings {
  int rounds = 5;
  int workers = 0;
  std::vector<std::string> only;
  bool json = false, quick = false, alone = false, calls = false;
};

// The results of this round from the same program built with -march=native.
series round_of(const std::string& program, const kernel& k, int workers) {
  const auto command = fmt::format("'{}' --alone --json --rounds 1 --workers {} --only {}", program,
                                   workers, k.name);
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("cannot run " + program);
  std::string text;
  char buffer[4096];
  while (auto n = std::fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, n);
  return first_of(text);
}

void progress(bool shown, const std::string& text) {
  if (shown) fmt::print(stderr, "\r\033[K{}", text), std::fflush(stderr);
}

int measure(const settings& s) {
  const int workers = s.workers > 0 ? s.workers : cleave::runtime().workers();
  auto kernels = all_kernels(workers);
  for (const auto& name : s.only)
    if (std::none_of(kernels.begin(), kernels.end(), [&](auto& k) { return k.name == name; })) {
      std::string known;
      for (const auto& k : kernels) known += (known.empty() ? "" : ", ") + k.name;
      throw apps::usage_error(fmt::format("--only: expected one of {}, got '{}'", known, name));
    }
  if (s.calls) kernels.clear();
  if (!s.only.empty())
    std::erase_if(kernels, [&](const kernel& k) {
      return std::find(s.only.begin(), s.only.end(), k.name) == s.only.end();
    });

  const std::string native =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "overhead-native";
  const bool both_builds = !s.alone && !CLEAVE_APP_NATIVE && std::filesystem::exists(native);
  const bool shown = isatty(STDERR_FILENO) != 0 && !s.alone;
  std::vector<series> here(kernels.size()), there(kernels.size());
  auto take = [](series& to, const series& more) {
    if (to.name.empty()) to = more;
    else to.add(more);
  };
  for (int round = 0; round < s.rounds; round++)
    for (std::size_t i = 0; i < kernels.size(); i++) {
      const auto k = (i + static_cast<std::size_t>(round)) % kernels.size();
      progress(shown, fmt::format("round {} of {}: {}", round + 1, s.rounds, kernels[k].name));
      take(here[k], one_round(kernels[k], workers, round, CLEAVE_APP_FLAGS));
      if (both_builds && kernels[k].baseline.empty())
        take(there[k], round_of(native, kernels[k], workers));
      else if (both_builds) there[k] = here[k];
    }
  const auto chosen = both_builds ? faster_of(here, there) : here;

  progress(shown, "waiting");
  const bool waiting = !s.calls && !s.alone && s.only.empty() && workers > 1;
  const bool calling = s.calls || waiting;
  const latency wake = waiting ? wake_up(workers) : latency{};
  const double idle = waiting ? idle_cpu(workers) : 0;
  progress(shown, "calls");
  const auto calls = calling ? call_costs() : std::vector<call_cost>{};
  const auto loops = calling ? short_loops(workers) : std::vector<short_loop>{};
  progress(shown, "");

  if (s.json) {
    fmt::print("{}\n", to_json({apps::processor(), workers, s.rounds, chosen,
                                waiting ? std::optional(wake) : std::nullopt, idle, calls, loops}));
    return 0;
  }
  fmt::print("{}, {} CPUs; {}\n", apps::processor(), std::thread::hardware_concurrency(),
             __VERSION__);
  if (!chosen.empty()) {
    fmt::print("median (least-most) of {} rounds, in seconds; {}\n\n", s.rounds,
               both_builds ? "whichever flags make the sequential program faster"
                           : std::string("flags ") + CLEAVE_APP_FLAGS);
    print_table(chosen, workers);
  }
  if (waiting) {
    fmt::print(
        "\nwake-up: {:.1f} us from new work to an idle worker running it, 99 % below {:.1f} us\n",
        1e6 * wake.median, 1e6 * wake.high);
    fmt::print("idle: {:.3f} CPU seconds per second with one of {} workers busy\n", idle, workers);
  }
  if (calling) fmt::print("\n"), print_calls(calls, loops);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  settings s;
  apps::command_line line(
      "overhead",
      "Measures what the constructs cost: the plain sequential program (T_S), one worker\n"
      "(T_1) and all workers (T_P) of every application, in turn.",
      "Example:\n  overhead --only fib,queens --rounds 9\n");
  line.option_number("--rounds", s.rounds, 1, 1000, "Runs of each (default: 5)");
  line.option_number("--workers", s.workers, 1, 1024,
                     "What P is (default: the CPUs this process may use)");
  line.option_list("--only", "NAME", s.only, "Measure only these programs");
  line.flag("--calls", s.calls, "Only what single calls and short loops cost");
  line.flag("--quick", s.quick, "One round with one set of flags");
  line.flag("--alone", s.alone, "Only with the flags of this program; no waiting");
  line.flag("--json", s.json, "Print one JSON object instead of a table");
  line.parse(argc, argv);
  if (s.quick) s.rounds = 1, s.alone = true;
  return measure(s);
} catch (...) { return apps::failed("overhead"); }
