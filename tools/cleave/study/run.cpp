#include "run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cpus.hpp"
#include "interrupt.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace study {
namespace {

// What a program prints that runs on these CPUs alone. Throws std::runtime_error if it fails or
// takes longer than `limit`.
std::string output_of(const std::vector<std::string>& command, const std::vector<int>& on,
                      std::chrono::seconds limit) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == -1) throw std::runtime_error("no process");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_only_on(on);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]), close(ends[1]);
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  const auto end = std::chrono::steady_clock::now() + limit;
  std::string text;
  bool late = false, ended = false;
  for (char buffer[65536];;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd wait{ends[0], POLLIN, 0};
    const int ready = left.count() > 0 ? poll(&wait, 1, static_cast<int>(left.count())) : 0;
    ended = is_interrupted();
    if (ended) break;
    if (ready < 0 && errno == EINTR) continue;
    late = ready == 0;
    const ssize_t n = late ? 0 : read(ends[0], buffer, sizeof buffer);
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (late || ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (ended) throw std::runtime_error("interrupted");
  if (late) throw std::runtime_error("took longer than " + std::to_string(limit.count()) + " s");
  if (WIFSIGNALED(status))
    throw std::runtime_error(std::string("ended by signal ") + strsignal(WTERMSIG(status)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("exit status " + std::to_string(WEXITSTATUS(status)));
  return text;
}

std::vector<system> systems_in(const std::string& folder) {
  std::ifstream in(folder + "/systems.json");
  if (!in)
    throw std::runtime_error(
        folder +
        "/systems.json: cannot be read; `make study` in Cleave's sources makes "
        "it, and the systems' programs, and runs the study");
  std::vector<system> found;
  for (const auto& s : nlohmann::json::parse(in))
    found.push_back({s.at("name"), "", s.value("missing", "")});
  return found;
}

template <class T>
void check_known(const std::string& option, const std::vector<T>& wanted,
                 const std::vector<T>& known) {
  for (const auto& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list;
      for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
      throw apps::usage_error(fmt::format("{}: expected some of {}, got '{}'", option, list, name));
    }
}

void take(cell& to, system& of, const nlohmann::json& run) {
  of.version = run.at("version");
  to.arguments = run.value("arguments", to.arguments);
  if (run.contains("failed")) {
    to.failed = run.at("failed");
    return;
  }
  auto append = [](std::vector<double>& list, const nlohmann::json& more) {
    for (double x : more) list.push_back(x);
  };
  append(to.seconds, run.at("seconds"));
  append(to.cycles, run.at("cycles"));
  to.tasks = run.value("tasks", 0.0);
  to.work = run.value("work", 0.0), to.span = run.value("span", 0.0);
  if (run.contains("series"))
    for (const auto& [name, values] : run.at("series").items()) append(to.series[name], values);
}

bool whole_program(const cell& c) {
  return c.kernel != "spawn" && c.kernel != "migrate" && c.kernel != "spread";
}

}  // namespace

// The kernels in the order of the page: what a task costs, then whole programs.
const std::vector<std::string> all_kernels = {"spawn", "migrate", "spread", "tree-1", "tree-2",
                                              "fib",   "queens",  "uts",    "skynet", "matmul"};

measured run(const settings& what, const std::function<void(int done, int all)>& progress) {
  const auto cpus = cpus_allowed();
  measured m;
  m.date = today(), m.machine = apps::processor(), m.cpus = static_cast<int>(cpus.size());
  m.size = what.quick ? "quick" : "full";
  m.passes = what.passes > 0 ? what.passes : what.quick ? 2 : 5;
  m.systems = systems_in(what.folder);
  std::vector<std::string> known;
  for (const auto& s : m.systems) known.push_back(s.name);
  check_known("--systems", what.systems, known);
  check_known("--kernels", what.kernels, all_kernels);
  auto chosen = [](const auto& list, const auto& x) {
    return list.empty() || std::find(list.begin(), list.end(), x) != list.end();
  };
  std::erase_if(m.systems, [&](const system& s) { return !chosen(what.systems, s.name); });

  std::vector<int> counts = what.workers;
  for (int n = 1; what.workers.empty() && n < m.cpus; n *= 2) counts.push_back(n);
  if (what.workers.empty()) counts.push_back(m.cpus);

  std::vector<std::size_t> of;  // the system of each cell
  for (const auto& kernel : all_kernels)
    for (int workers : counts)
      for (std::size_t s = 0; s < m.systems.size(); s++) {
        const auto& name = m.systems[s].name;
        const bool possible = m.systems[s].missing.empty() && (name != "serial" || workers == 1) &&
                              ((kernel != "migrate" && kernel != "spread") || workers > 1);
        if (!chosen(what.kernels, kernel) || !possible) continue;
        cell& c = m.cells.emplace_back();
        c.kernel = kernel, c.system = name, c.workers = workers;
        of.push_back(s);
      }
  if (m.cells.empty()) throw std::runtime_error("nothing to run: no such system is here");

  const auto limit = std::chrono::seconds(what.quick ? 10 : 120);
  const std::size_t all = m.cells.size();
  auto run_once = [&](const cell& c, const std::vector<std::string>& options) {
    std::vector<std::string> command = {what.folder + "/" + c.system, c.kernel, "--workers",
                                        std::to_string(c.workers)};
    if (!what.quick) command.emplace_back("--full");
    command.insert(command.end(), options.begin(), options.end());
    const auto on = std::min(cpus.size(), static_cast<std::size_t>(c.workers));
    const std::vector<int> first(cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(on));
    return nlohmann::json::parse(output_of(command, first, limit));
  };
  // What takes long is run once, and what takes longer does without clocks in it.
  const double once_from = what.quick ? 0.3 : 15, no_clocks_from = what.quick ? 1 : 20;
  std::vector<double> took(all);
  using clock = std::chrono::steady_clock;
  const until_interrupted watching;
  background_watch machine;
  int done = 0;
  const int runs = m.passes * static_cast<int>(all) +
                   static_cast<int>(std::count_if(m.cells.begin(), m.cells.end(), whole_program));
  for (int pass = 0; pass < m.passes && !is_interrupted(); pass++) {
    machine.measure_capacity();
    for (std::size_t i = 0; i < all; i++) {
      // Neighbours are the systems of one kernel; each pass begins elsewhere and every second runs
      // backwards.
      const std::size_t turned =
          (i + all * static_cast<std::size_t>(pass) / static_cast<std::size_t>(m.passes)) % all;
      const std::size_t k = pass % 2 == 0 ? turned : all - 1 - turned;
      cell& c = m.cells[k];
      progress(done++, runs);
      if (is_interrupted() || !c.failed.empty() || took[k] > once_from) continue;
      const auto begin = clock::now();
      try {
        take(c, m.systems[of[k]], run_once(c, {}));
      } catch (const std::exception& e) {
        if (!is_interrupted()) c.failed = e.what();  // an interrupted program may fail, too
      }
      took[k] = std::chrono::duration<double>(clock::now() - begin).count();
    }
  }
  machine.measure_capacity();
  for (std::size_t k = 0; k < all; k++) {
    cell& c = m.cells[k];
    if (!whole_program(c)) continue;
    progress(done++, runs);
    if (is_interrupted() || !c.failed.empty() || took[k] > no_clocks_from) continue;
    // The average is of as many rounds as take a twentieth of a second.
    const int rounds = static_cast<int>(std::clamp(0.05 / median(c.seconds), 1.0, 9.0));
    auto with_clocks = [&](const char* option, const char* member,
                           std::map<std::string, double>& to) {
      try {
        to = run_once(c, {option, "--rounds", std::to_string(rounds)}).value(member, to);
      } catch (const std::exception&) {}  // too slow with clocks: there are no shares
    };
    with_clocks("--account", "shares", c.shares);
    if (c.system == "cleave" && c.workers == 1) with_clocks("--profile", "profile", c.profile);
  }
  progress(done, done);
  m.interrupted = is_interrupted();
  m.beside = machine.so_far();
  std::erase_if(m.cells, [](const cell& c) { return c.seconds.empty() && c.failed.empty(); });
  if (m.cells.empty()) throw std::runtime_error("interrupted before anything was measured");
  return m;
}

}  // namespace study
