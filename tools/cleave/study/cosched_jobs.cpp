#include "cosched_jobs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

#include "cosched/launch.hpp"
#include "interrupt.hpp"
#include "process.hpp"
#include "support/save_file.hpp"

namespace study::sharing {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using strings = std::vector<std::string>;

double since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

fs::path report_of(const fs::path& work, std::size_t n) { return work / fmt::format("{}.json", n); }
fs::path start_of(const fs::path& work, std::size_t n) { return work / fmt::format("{}.start", n); }
fs::path errors_of(const fs::path& work, std::size_t n) { return work / fmt::format("{}.err", n); }

// Computes, and nothing else.
class outsider_process {
public:
  explicit outsider_process(bool wanted) {
    if (!wanted) return;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    end_with_parent(parent, SIGKILL);
    setsid();
    for (unsigned x = 1;;) asm volatile("" : "+r"(x = x * 3 + 1));
  }
  ~outsider_process() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  outsider_process(const outsider_process&) = delete;
  outsider_process& operator=(const outsider_process&) = delete;

private:
  pid_t pid_ = 0;
};

using processes = std::vector<std::unique_ptr<process>>;

bool is_ready(const process& p) { return p.said().find("ready\n") != std::string::npos; }

// Reads what jobs say until all of them are as asked for, and returns whether they are: false if
// the time is over.
template <class F>
bool read_until(const processes& all, clock::time_point end, deadline last, F is_done) {
  for (;;) {
    std::vector<pollfd> open;
    std::vector<process*> of;
    bool done = true;
    for (const auto& p : all) {
      if (is_done(*p)) continue;
      if (!p->is_open()) throw std::runtime_error("ended before it was ready");
      done = false;
      open.push_back({p->output(), POLLIN, 0});
      of.push_back(p.get());
    }
    if (done) return true;
    if (is_interrupted()) throw std::runtime_error("interrupted");
    if (clock::now() > last) throw out_of_time();
    if (clock::now() > end) return false;
    poll(open.data(), open.size(), 200);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i].revents != 0) of[i]->read_some();
  }
}

void say_when(const fs::path& file, double when) {
  apps::save_file(file.string(), fmt::format("{:.6f}", when));
}

void add_counts(std::map<std::string, double>& to, const fs::path& report, const rusage& used) {
  to["voluntary_switches"] += static_cast<double>(used.ru_nvcsw);
  to["involuntary_switches"] += static_cast<double>(used.ru_nivcsw);
  const std::string text = text_of(report);
  if (text.empty()) return;
  const auto o = nlohmann::json::parse(text);
  for (const char* name :
       {"waits", "ended_spinning", "ended_late", "sleeps", "for_nothing", "rings", "spun_longer",
        "yields", "yielded_s", "stops", "stopped_s", "spun_s", "slept_s"})
    to[name] += o.at(name).get<double>();
}

ended end_of(process& p, const fs::path& work, std::size_t number, const way& by) {
  const auto [status, used] = p.wait();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("{}: status {}: {}", by.name(), status,
                                         text_of(errors_of(work, number)).substr(0, 300)));
  const std::size_t at = p.said().find('{');
  if (at == std::string::npos) throw std::runtime_error("said nothing");
  const auto o = nlohmann::json::parse(p.said().substr(at));
  if (!o.at("verified").get<bool>()) throw std::runtime_error("a wrong answer");
  ended e{o.at("begin"), o.at("seconds"), o.at("cpu_seconds"), false, {}, {}};
  if (o.contains("marks")) e.marks = o.at("marks").get<std::vector<double>>();
  add_counts(e.counts, report_of(work, number), used);
  return e;
}

void add_below(int of, const std::string& program, std::vector<int>& to) {
  std::string name = text_of(fmt::format("/proc/{}/comm", of));
  if (!name.empty()) name.pop_back();
  if (name == program.substr(0, 15)) to.push_back(of);
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", of), gone)) {
    std::ifstream children(task.path() / "children");
    for (int child; children >> child;) add_below(child, program, to);
  }
}

double cpu_time(clockid_t of) {
  timespec t{};
  clock_gettime(of, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

strings launcher::command(const job& what, const way& by, const fs::path& work,
                          std::size_t number) const {
  strings c;
  if (by.mode == "gang") {
    c = {cleave, "gang", "--socket", work / "gang", "run", "--"};
  } else if (by.mode != "plain" && by.mode != "yield") {
    c = {cleave, "cosched", "--policy", by.mode, "--report", report_of(work, number), "--mpi", mpi};
    if (by.spin >= 0) c.insert(c.end(), {"--spin", std::to_string(by.spin), "--free-spin", "0"});
  }
  c.push_back(mpirun);
  if (mpi == "openmpi")
    c.insert(c.end(), {"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle",
                       by.mode == "yield" ? "1" : "0"});
  c.insert(c.end(), {"-n", std::to_string(what.ranks), programs / (what.program + "-" + mpi)});
  c.insert(c.end(), what.arguments.begin(), what.arguments.end());
  c.insert(c.end(), {"--json", "--start", start_of(work, number)});
  return c;
}

launcher find_launcher(const fs::path& cleave, const std::string& mpi) {
  launcher found{cleave, cleave.parent_path(), "", ""};
  std::string missing;
  for (const std::string& name : strings{"openmpi", "mpich"}) {
    if (!mpi.empty() && mpi != name) continue;
    if (!fs::exists(found.programs / ("cg-" + name))) {
      missing += fmt::format("; no {} (of the target study_programs)",
                             (found.programs / ("cg-" + name)).string());
      continue;
    }
    for (const std::string& mpirun : strings{"mpirun." + name, "mpirun"}) {
      if (::cosched::mpi_of(mpirun) != name) continue;
      found.mpi = name, found.mpirun = mpirun;
      if (name == "openmpi" && getuid() == 0)
        for (const char* allow : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
          setenv(allow, "1", 1);
      return found;
    }
    missing += "; no mpirun of " + name;
  }
  throw std::runtime_error("no MPI to run jobs with" + missing);
}

gang_daemon::gang_daemon(const launcher& with, const fs::path& work) {
  const pid_t parent = getpid();
  const strings command{with.cleave, "gang", "--socket", work / "gang", "serve"};
  process_ = fork();
  if (process_ == 0) {
    end_with_parent(parent, SIGTERM);
    setsid();
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    become(command);
  }
  for (int i = 0; i < 500 && !fs::exists(work / "gang"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (!fs::exists(work / "gang")) throw std::runtime_error("cleave gang serve does not begin");
}

gang_daemon::~gang_daemon() {
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

std::vector<ended> run_jobs(const launcher& with, const std::vector<job>& jobs, const way& by,
                            bool outsider, const fs::path& work, double limit, deadline last,
                            const std::function<void(const std::vector<int>&, double)>& begun) {
  constexpr auto to_get_ready = std::chrono::seconds(60);
  processes all;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    fs::remove(start_of(work, i)), fs::remove(report_of(work, i));
    all.push_back(
        std::make_unique<process>(with.command(jobs[i], by, work, i), errors_of(work, i)));
  }
  std::vector<ended> ends;
  try {
    if (!read_until(all, clock::now() + to_get_ready, last,
                    [](const process& p) { return is_ready(p); }))
      throw std::runtime_error("does not get ready");
    const outsider_process beside(outsider);
    // The beginning is late enough for each job of a gang to have a turn before: in it the job
    // finds the time.
    const double turns = by.mode == "gang" ? 0.1 * static_cast<double>(jobs.size()) : 0;
    const double begin = since_1970() + 0.1 + 2 * turns;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      say_when(start_of(work, i), begin + jobs[i].after);
    if (begun) {
      std::vector<int> pids;
      for (const auto& p : all) pids.push_back(p->pid());
      begun(pids, begin);
    }
    const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(limit));
    read_until(all, end, last, [](const process& p) { return !p.is_open(); });
    const double stopped = since_1970();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const double begins = begin + jobs[i].after;
      if (all[i]->is_open()) ends.push_back({begins, stopped - begins, 0, true, {}, {}});
      else ends.push_back(end_of(*all[i], work, i, by));
    }
  } catch (const out_of_time&) { throw; } catch (const std::runtime_error& e) {
    if (is_interrupted()) throw std::runtime_error("interrupted");
    std::string said;
    for (std::size_t i = 0; i < jobs.size() && said.empty(); ++i)
      said = text_of(errors_of(work, i)).substr(0, 300);
    throw std::runtime_error(said.empty() ? e.what() : std::string(e.what()) + ": " + said);
  }
  return ends;
}

timeline sample(const launcher& with, const std::vector<int>& launchers,
                const std::vector<job>& jobs, double begin, int steps) {
  timeline found;
  std::vector<clockid_t> clocks;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    found.jobs.push_back(jobs[j].name());
    std::vector<int> ranks;
    // The ranks are added as in the launcher's list, which is their order.
    add_below(launchers[j], jobs[j].program + "-" + with.mpi, ranks);
    for (const int pid : ranks) {
      clockid_t clock = 0;
      if (clock_getcpuclockid(pid, &clock) != 0) continue;
      clocks.push_back(clock);
      found.ranks.push_back({static_cast<int>(j), {}, {}});
    }
  }
  std::vector<double> before;
  double last = 0;
  for (int i = 0; i <= steps; ++i) {
    const double at = begin + i * found.step;
    for (double now; (now = since_1970()) < at;)
      std::this_thread::sleep_for(std::chrono::duration<double>(at - now));
    const double now = since_1970();
    for (std::size_t r = 0; r < clocks.size(); ++r) {
      const double used = cpu_time(clocks[r]);
      if (i == 0) before.push_back(used);
      else found.ranks[r].ran.push_back(std::clamp((used - before[r]) / (now - last), 0.0, 1.0));
      before[r] = used;
    }
    last = now;
  }
  return found;
}

}  // namespace study::sharing
