// cleave: the command. `cleave study` compares task systems, `cleave cosched` starts an MPI job,
// `cleave gang` gives jobs turns, `cleave relay` joins machines and sites, `cleave record` tells
// who waits for whom in an MPI program, `cleave plan` reads what it and graphs have recorded,
// `cleave tascell` translates Tascell programs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "commands.hpp"
#include "cosched/launch.hpp"
#include "study/compare.hpp"
#include "study/cosched_figures.hpp"
#include "study/cosched_run.hpp"
#include "study/forecast.hpp"
#include "study/interrupt.hpp"
#include "study/md_command.hpp"
#include "study/net_command.hpp"
#include "study/page.hpp"
#include "study/run.hpp"
#include "study/tsp_command.hpp"
#include "support/command_line.hpp"
#include "support/save_file.hpp"

namespace {

// Shows on a terminal how much is done, and how long the rest will take if it takes as long as what
// was done.
class progress_line {
public:
  void operator()(int done, int all) {
    if (!shown_) return;
    constexpr int width = 30;
    const double passed = std::chrono::duration<double>(clock::now() - begin_).count();
    const int left = done > 0 ? static_cast<int>(passed / done * (all - done)) : 0;
    const int full = all > 0 ? width * done / all : width;
    fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {} of {}{}", "", full, "", width - full, done, all,
               done == 0 ? "" : fmt::format(", {} min {:02} s left", left / 60, left % 60));
    if (done == all) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }

private:
  using clock = std::chrono::steady_clock;
  bool shown_ = isatty(STDERR_FILENO) != 0;
  clock::time_point begin_ = clock::now();
};

std::string in_words(const study::cell& c) {
  if (!c.failed.empty()) return "failed";
  const bool micro = c.kernel == "spawn" || c.kernel == "migrate" || c.kernel == "spread";
  return micro ? fmt::format("{:.0f} cycles", study::median(c.cycles))
               : fmt::format("{:.4f} s", study::median(c.seconds));
}

void print_table(const study::measured& m) {
  fmt::print("{:<8} {:>7}", "kernel", "workers");
  for (const auto& s : m.systems)
    if (s.missing.empty()) fmt::print(" {:>13}", s.name);
  fmt::print("\n");
  std::string row;
  for (const auto& c : m.cells) {
    const auto key = fmt::format("{:<8} {:>7}", c.kernel, c.workers);
    if (key == row) continue;
    fmt::print("{}", row = key);
    for (const auto& s : m.systems) {
      if (!s.missing.empty()) continue;
      const auto* found = m.find(c.kernel, s.name, c.workers);
      fmt::print(" {:>13}", found != nullptr ? in_words(*found) : "");
    }
    fmt::print("\n");
  }
  const auto& capacity = m.beside.capacity;
  if (m.cpus > 1)
    fmt::print("all {} CPUs at once did {:.2f} to {:.2f} times the work of one\n", m.cpus,
               *std::min_element(capacity.begin(), capacity.end()),
               *std::max_element(capacity.begin(), capacity.end()));
  for (const auto& c : m.cells)
    if (!c.failed.empty())
      fmt::print("failed: {} on {} with {} workers: {}\n", c.kernel, c.system, c.workers, c.failed);
  for (const auto& s : m.systems)
    if (!s.missing.empty()) fmt::print("{}: not found, looked for {}\n", s.name, s.missing);
}

// Says that the machine was busy. Then it is not said whether figures were met or changed.
void print_disturbance(const std::string& reason, const std::string& of = "") {
  if (!reason.empty()) fmt::print("DISTURBED: {}{}: these figures compare nothing\n", of, reason);
}

int run_study(const study::settings& what, const std::string& folder, bool json) {
  study::check_folder(folder, {"study.json", "study.html"});
  const auto m = study::run(what, progress_line());
  if (json) {
    fmt::print("{}\n", study::to_json(m));
  } else {
    print_table(m);
    print_disturbance(m.disturbance());
  }
  apps::flush_output();
  apps::save_file(folder + "/study.json", study::to_json(m, true) + "\n");
  apps::save_file(folder + "/study.html", study::page(m));
  if (!json)
    fmt::print("\n{1}written: {0}/study.json and {0}/study.html\n", folder,
               m.interrupted ? "interrupted; " : "");
  return m.interrupted ? 128 + study::interrupted_by() : 0;
}

void print_table(const study::sharing::measured& m) {
  fmt::print("{:<10} {:<40} {:<16} {:>9} {:>11} {:>9}\n", "part", "jobs", "shared by", "seconds",
             "fair shares", "CPU s");
  for (const auto& c : m.cells) {
    fmt::print("{:<10} {:<40} {:<16}", c.part, c.title(), c.by.name());
    if (!c.failed.empty()) {
      fmt::print(" failed: {}\n", c.failed);
      continue;
    }
    const auto cpu = known_cpu_seconds(c);
    std::vector<double> means;
    for (const auto& run : c.seconds) {
      double sum = 0;
      for (const double s : run) sum += s;
      means.push_back(sum / static_cast<double>(run.size()));
    }
    fmt::print(" {:>9.4f} {:>11} {:>9}{}\n", study::median(means),
               c.fair.empty() ? "" : fmt::format("{:.3f}", study::median(c.fair)),
               cpu.empty() ? "" : fmt::format("{:.3f}", study::median(cpu)),
               c.stopped == 0 ? "" : fmt::format("  {} stopped: takes longer", c.stopped));
  }
}

void print_figures(const study::sharing::measured& m) {
  std::string goal;
  for (const auto& f : study::sharing::figures_of(m)) {
    if (f.goal != goal)
      fmt::print("\n{}: at {} {:.2f}\n", goal = f.goal, f.at_most ? "most" : "least", f.limit);
    fmt::print("  {:<44} {:<10} {:>6.3f} ({:.3f} to {:.3f}) {}\n", f.jobs, f.mode, f.measured,
               f.least, f.most,
               !m.disturbance().empty() ? ""
               : f.met()                ? "met"
                                        : "NOT MET");
  }
}

void write(const study::sharing::measured& m, const std::string& folder) {
  apps::save_file(folder + "/cosched.json", to_json(m, true) + "\n");
  apps::save_file(folder + "/cosched.html", page(m));
}

int run_cosched_study(const study::sharing::settings& what, const std::string& folder, bool json) {
  study::check_folder(folder, {"cosched.json", "cosched.html"});
  study::forecast_line line;
  const auto keep_so_far = [&](const study::sharing::measured& so_far) {
    try {
      write(so_far, folder);
    } catch (const std::exception&) {}  // what cannot be written at the end is told there
  };
  const auto m =
      study::sharing::run(what, {[](const std::string& text) { fmt::print(stderr, "{}\n", text); },
                                 std::ref(line), keep_so_far});
  if (json) {
    fmt::print("{}\n", to_json(m));
  } else {
    print_table(m);
    print_figures(m);
    print_disturbance(m.disturbance());
  }
  apps::flush_output();
  write(m, folder);
  if (!json) {
    const std::string cut = m.interrupted   ? "interrupted; "
                            : m.out_of_time ? "the time is over; "
                                            : "";
    fmt::print("\n{1}{2} of {3} passes whole; written: {0}/cosched.json and {0}/cosched.html\n",
               folder, cut, m.whole, m.passes);
  }
  return m.interrupted ? 128 + study::interrupted_by() : 0;
}

int compare(const std::vector<std::string>& files) {
  const auto before = study::read_json(files[0]), after = study::read_json(files[1]);
  if (before.machine != after.machine || before.size != after.size)
    fmt::print("not the same machine or sizes: {}, {}; {}, {}\n", before.machine, before.size,
               after.machine, after.size);
  print_disturbance(before.disturbance(), files[0] + ": ");
  print_disturbance(after.disturbance(), files[1] + ": ");
  const auto found = study::changes(before, after);
  for (const auto& c : found)
    fmt::print("{:<8} {:<14} {} workers: {}\n", c.kernel, c.system, c.workers,
               !c.note.empty() ? c.note
                               : fmt::format("{:.6f} -> {:.6f} s, {:.2f} times as long", c.before,
                                             c.after, c.after / c.before));
  if (found.empty()) fmt::print("nothing changed beyond noise\n");
  return 0;
}

int run(int argc, char** argv) {
  study::settings what;
  std::string folder = ".";
  std::vector<std::string> files;
  bool json = false;
  const auto own_folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  what.folder = own_folder / "systems";
  apps::command_line line("cleave", "Cleave's tools.");
  apps::command_line command(line, "study",
                             "Run every kernel on every task system that is found, and explain");
  command.flag("--quick", what.quick, "Small sizes: under two minutes");
  command.option_list("--kernels", "NAME", what.kernels, "Only these");
  command.option_list("--systems", "NAME", what.systems, "Only these");
  command.option_numbers("--workers", what.workers, 1, 1024,
                         "Only so many (default: 1, 2, 4, ... and all CPUs)");
  command.option_number("--passes", what.passes, 1, 1000,
                        "How often all is run (default: 5; quick: 2)");
  command.option("--output,-o", "FOLDER", folder,
                 "Where study.json and study.html go (default: here)");
  command.option_pair("--compare", "OLD NEW", files,
                      "Say what changed from one study.json to another, and run nothing");
  command.flag("--json", json, "Print the data instead of a table");
  study::sharing::settings sharing;
  command.make_command_optional();
  apps::command_line shared(command, "cosched",
                            "Run MPI jobs side by side, under each way to share the machine");
  shared.flag("--quick", sharing.what.quick, "Small sizes, fewer cases and one pass");
  shared.flag("--figures", sharing.what.figures,
              "Only what the goals need: some ten minutes for three passes");
  shared.option_choice("--mpi", sharing.mpi, {"openmpi", "mpich"},
                       "Whose MPI (default: the first that is here)");
  const auto some = [](const std::vector<std::string>& names) {
    return fmt::format("Only these, of {}", fmt::join(names, ", "));
  };
  shared.option_list("--parts", "NAME", sharing.what.parts, some(study::sharing::all_parts));
  shared.option_list("--ways", "NAME", sharing.what.ways, some(study::sharing::all_ways));
  shared.option_number("--ranks", sharing.what.ranks, 1, 64,
                       "Ranks of a job, a power of two; no more CPUs are used (default: as many as "
                       "there are CPUs, rounded down)");
  shared.option_number("--seconds", sharing.seconds, 1, 1000,
                       "Seconds that a job takes alone, about (default: 1.2; quick: 0.2)");
  shared.option_number("--passes", sharing.passes, 1, 1000,
                       "How often all is run (default: 3; quick: 1)");
  shared.option_number("--time-limit", sharing.time_limit, 1, 1'000'000,
                       "Seconds after which it ends with what there is (default: none)");
  shared.option("--output,-o", "FOLDER", folder,
                "Where cosched.json and cosched.html go (default: here)");
  shared.flag("--json", json, "Print the data instead of a table");
  study::networks::command networks(command);
  study::tours::command tours(command);
  study::dynamics::command dynamics(command);
  cosched::job job;
  apps::command_line start(line, "cosched",
                           "Start an MPI job whose ranks sleep where they would only spin");
  start.option_choice("--policy", job.policy, {"spin", "block", "two-phase", "logp", "adaptive"},
                      "How ranks wait: spin, block, two-phase (default), logp or adaptive");
  start.option_number("--spin", job.spin, 0, 1'000'000,
                      "Microseconds that two-phase and logp spin (default: twice what a context "
                      "switch takes; logp: a wake-up and a round trip)");
  start.option_number("--free-spin", job.free_spin, 0, 1'000'000,
                      "Microseconds to spin on a CPU that nobody else wants (default: 4 wake-ups, "
                      "120 to 400, in vain for 5 ms and 1/30 of the time at most; 0: no longer "
                      "than elsewhere)");
  start.option_number("--turn", job.turn, 0, 10'000,
                      "Milliseconds of the turns that jobs with a rank for each CPU take, where "
                      "that pays (default: 100; 0: no turns)");
  start.option("--report", "FILE", job.report,
               "Where the counts of all waits go when the job ends, as JSON; -: to the terminal");
  start.option_choice("--mpi", job.mpi, {"openmpi", "mpich"},
                      "Whose MPI it is (default: as the launcher's name tells)");
  start.rest("mpirun ...", job.command);
  const std::array others{gang::commands(line), relay::commands(line),  sites::commands(line),
                          plan::commands(line), record::commands(line), tascell::commands(line)};
  line.parse(argc, argv);
  for (const auto& group : others)
    if (group->given()) return group->run();
  if (!job.command.empty()) cosched::launch(job, cosched::library_folders(own_folder));
  if (networks.given()) return networks.run();
  if (tours.given()) return tours.run();
  if (dynamics.given()) return dynamics.run();
  if (shared.parsed()) {
    sharing.cleave = std::filesystem::read_symlink("/proc/self/exe");
    return run_cosched_study(sharing, folder, json);
  }
  return files.empty() ? run_study(what, folder, json) : compare(files);
}

}  // namespace

int main(int argc, char** argv) try {
  const int status = run(argc, argv);
  apps::flush_output();
  return status;
} catch (...) { return apps::failed("cleave"); }
