#include "commands.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cosched/launch.hpp"
#include "graph/schedule.hpp"
#include "record/report.hpp"
#include "record/symbols.hpp"
#include "study/process.hpp"
#include "support/command_line.hpp"
#include "support/input_error.hpp"
#include "support/save_file.hpp"

namespace record {
namespace {

struct options {
  std::string file = "recorded.plan", page, mpi;
  std::vector<std::string> command;
  bool json = false;
  apps::command_line line;

  explicit options(apps::command_line& program)
      : line(program, "record",
             "Run an MPI program, and tell who waits for whom, and its critical path") {
    line.option("--output,-o", "FILE", file,
                "Where the recorded graph goes, for `cleave plan` (default: recorded.plan)");
    line.option("--page", "FILE", page, "A page, in HTML, with a timeline of the ranks");
    line.flag("--json", json, "Print one JSON object instead of tables");
    line.option_choice("--mpi", mpi, {"openmpi", "mpich"},
                       "Whose MPI it is (default: as the launcher's name tells)");
    line.rest("mpirun ...", command);
  }
};

// Signals of the terminal are for the job; this process waits for its end, as system() does.
class signals_of_terminal {
public:
  signals_of_terminal()
      : interrupt_(std::signal(SIGINT, SIG_IGN)), quit_(std::signal(SIGQUIT, SIG_IGN)) {}
  ~signals_of_terminal() { restore(); }
  signals_of_terminal(const signals_of_terminal&) = delete;
  signals_of_terminal& operator=(const signals_of_terminal&) = delete;
  void restore() const { std::signal(SIGINT, interrupt_), std::signal(SIGQUIT, quit_); }

private:
  using handler = void (*)(int);
  const handler interrupt_, quit_;
};

// Runs the job, whose ranks write into that folder; returns its exit status.
int run_job(const options& what, const std::filesystem::path& folder) {
  setenv("CLEAVE_RECORD_FOLDER", folder.c_str(), 1);
  const auto own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto words = cosched::with_library(
      {"record", what.mpi, what.command, {"CLEAVE_RECORD_FOLDER"}}, cosched::library_folders(own));
  const signals_of_terminal ignored;
  const pid_t parent = getpid(), job = fork();
  if (job < 0) throw std::runtime_error("no process");
  if (job == 0) {
    ignored.restore();
    study::end_with_parent(parent, SIGTERM);
    study::become(words);
  }
  int status = 0;
  while (waitpid(job, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class group final : public apps::command_group {
public:
  explicit group(apps::command_line& program) : options_(program) {}
  bool given() const override { return options_.line.parsed(); }
  int run() override;

private:
  void tell(const std::filesystem::path& folder) const;

  options options_;
};

void group::tell(const std::filesystem::path& folder) const {
  if (std::filesystem::is_empty(folder))
    throw apps::usage_error("nothing recorded: expected a program that calls MPI_Init");
  report r;
  r.of = read_job(folder);
  r.names = names_of(r.of.sites);
  r.found = analysis_of(r.of);
  auto g = graph_of(r.of, r.found.by, r.names);
  const auto time_of = [&] {
    return 1e-6 * best_schedule(g, {g.nodes, g.workers, g.messages}).time;
  };
  r.span = 1e-6 * critical_path(g);
  r.forecast = time_of();
  cleave::detail::write_recorded_graph(g, options_.file);
  g.messages = {};
  for (auto& s : g.subtasks)
    if (s.name < r.names.size()) s.duration = 0;  // MPI's own work in a call
  r.without_mpi = time_of();
  if (!options_.page.empty()) apps::save_file(options_.page, page(r));
  if (options_.json) fmt::print("{}\n", to_json(r));
  else print(r, options_.file);
}

int group::run() {
  try {
    apps::require_writable(options_.file);
    if (!options_.page.empty()) apps::require_writable(options_.page);
  } catch (const std::invalid_argument& e) { throw apps::usage_error(e.what()); }
  const study::scratch folder;
  const int status = run_job(options_, folder.path());
  try {
    tell(folder.path());
  } catch (const std::runtime_error& e) {
    if (status == 0) throw;
    fmt::print(stderr, "cleave: the program ended with status {}; {}\n", status, e.what());
  }
  return status;
}

}  // namespace

std::unique_ptr<apps::command_group> commands(apps::command_line& program) {
  return std::make_unique<group>(program);
}

}  // namespace record
