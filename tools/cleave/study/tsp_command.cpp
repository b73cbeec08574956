#include "tsp_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "support/save_file.hpp"
#include "tsp_findings.hpp"

namespace study::tours {
namespace {

void print_table(const measured& m) {
  fmt::print("{:<18} {:>9} {:>8} {:>9} {:>8} {:>9} {:>6} {:>6} {:>5} {:>7} {:>9} {:>10}\n",
             "searchers that are", "searchers", "seconds", "speed-up", "on P s", "speed-up", "runs",
             "new", "same", "failed", "messages", "bytes");
  for (const cell& c : m.cells)
    fmt::print(
        "{:<18} {:>9} {:>8.3f} {:>9.2f} {:>8.3f} {:>9.2f} {:>6.0f} {:>6.0f} {:>5.0f} {:>7.0f} "
        "{:>9.0f} {:>10.0f}\n",
        c.name(), c.searchers, median_of(c, "seconds"), speedup(m, c),
        median_of(c, "run_seconds") / c.searchers, speedup_by_work(m, c), median_of(c, "runs"),
        median_of(c, "new"), median_of(c, "same"), median_of(c, "failed"),
        median_of(c, "told_messages"), median_of(c, "told_bytes"));
  fmt::print(
      "on P s: the CPU seconds of all runs, divided by the searchers, and the speed-up if each had "
      "a CPU\n");
}

}  // namespace

void command::print(const measured& m) {
  print_table(m);
  for (const auto& f : findings_of(m))
    fmt::print("\nthe paper: {}\n  {}{}\n", f.paper, f.here,
               f.is == finding::verdict::unknown ? "" : ": " + f.in_words());
  for (const auto& f : m.failures)
    fmt::print("failed: {} with {} searchers: {}\n", f.of.name(), f.of.searchers, f.reason);
  if (!m.missing.empty()) fmt::print("{}\n", m.missing);
  if (const auto reason = m.disturbance(); !reason.empty())
    fmt::print("DISTURBED: {}: the seconds compare nothing\n", reason);
}

void command::write(const measured& m, const std::filesystem::path& folder) {
  apps::save_file(folder / "tsp.json", to_json(m, true) + "\n");
  apps::save_file(folder / "tsp.html", page(m));
}

command::command(apps::command_line& study)
    : passes_command(study, "tsp", "Measure how searchers of tours work together, as a paper did",
                     {"tsp.json", "tsp.html"}) {
  choice& what = settings_.what;
  const auto some = [](const std::vector<std::string>& names) {
    return fmt::format("Only these, of {}", fmt::join(names, ", "));
  };
  line_.flag("--quick", what.quick, "Up to 4 searchers and one pass: some seconds");
  line_.option_list("--organisations", "NAME", what.organisations, some(all_organisations));
  line_.option_list("--rules", "NAME", what.rules, some(all_rules));
  line_.option_numbers("--searchers", what.searchers, 1, 256,
                       "How many search (default: 1, 2, 4, 8, 16, 32)");
  line_.flag("--threads", what.threads, "Searchers are threads of one process");
  line_.option_choice("--mpi", what.mpi, {"openmpi", "mpich"},
                      "Whose MPI joins searchers (default: the first that is here, else threads)");
  line_.option_number("--grid", what.side, 2, 60, "Rows of the grid of cities (default: 8)");
  line_.option_number("--tours", what.tours, 1, 1'000'000,
                      "How many tours are looked for (default: 64)");
  line_.option_number(
      "--failures", what.changes, 1, 1'000'000'000,
      "Changes in a row that do not help, after which a run ends (default: 100000)");
  add_passes("How often all is run, each time with other runs (default: 5; quick: 1)");
  add_output("a table");
}

int command::run() {
  if (settings_.what.threads && !settings_.what.mpi.empty())
    throw apps::usage_error("--threads: expected without --mpi, got both");
  return passes_command::run();
}

}  // namespace study::tours
