#include "cosched_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <numeric>

#include "common/command_line.hpp"
#include "common/processor.hpp"
#include "cosched_jobs.hpp"
#include "interrupt.hpp"
#include "measured.hpp"

namespace study::sharing {
namespace {

namespace fs = std::filesystem;

constexpr int ranks = 2;

// A folder that is gone at the end.
class scratch {
public:
  scratch() {
    std::string name = fs::temp_directory_path() / "cleave-study-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", std::localtime(&now));
  return text;
}

double load() {
  double one = 0;
  std::ifstream("/proc/loadavg") >> one;
  return one;
}

int cpus_here() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Sizes that take a second or two when alone; quick: a fifth of one.
struct kernels {
  job cg, ft;
  explicit kernels(bool quick)
      : cg{"cg", {quick ? "W" : "A"}, ranks, 0}, ft{"ft", {quick ? "W" : "A"}, ranks, 0} {
    if (!quick) cg.arguments.insert(cg.arguments.end(), {"--times", "6"});
    if (!quick) ft.arguments.insert(ft.arguments.end(), {"--times", "2"});
  }
};

job bsp(int grain, int imbalance, int of_ranks, double seconds) {
  const int steps = std::max(20, static_cast<int>(1e6 * seconds / grain));
  return {"bsp",
          {std::to_string(grain), "--imbalance", std::to_string(imbalance), "--steps",
           std::to_string(steps)},
          of_ranks,
          0};
}

std::vector<way> all_ways(const std::string& mpi) {
  std::vector<way> ways = {{"plain"}};
  if (mpi == "openmpi") ways.push_back({"yield"});  // a parameter of Open MPI
  for (const char* mode : {"gang", "block", "two-phase", "logp", "adaptive"})
    ways.push_back({mode});
  return ways;
}

std::vector<cell> cells_of(const plan& what, const std::string& mpi) {
  const kernels k(what.quick);
  const auto ways = all_ways(mpi);
  std::vector<cell> all;
  auto add = [&](const std::string& part, const std::vector<job>& jobs, const way& by) -> cell& {
    cell& c = all.emplace_back();
    c.part = part, c.jobs = jobs, c.by = by;
    return c;
  };
  auto of = [](const job& j, int n) { return std::vector<job>(static_cast<std::size_t>(n), j); };
  for (const job& j : {k.cg, k.ft})
    for (const way& by : ways) add("alone", {j}, by);
  for (int n = 2; n <= (what.quick ? 2 : 4); ++n)
    for (const job& j : {k.cg, k.ft})
      for (const way& by : ways) add("copies", of(j, n), by);
  const std::vector<int> spins =
      what.quick ? std::vector<int>{0, 100} : std::vector<int>{0, 10, 30, 100, 300, 1000, 3000};
  for (int n = 1; n <= (what.quick ? 2 : 3); ++n)
    for (const job& j : {k.cg, k.ft})
      for (const int spin : spins) add("spin", of(j, n), {"two-phase", spin});
  for (const way& by : ways) add("mixed", {k.cg, k.ft}, by);
  std::vector<job> later = of(k.cg, 3);
  for (std::size_t i = 0; i < later.size(); ++i)
    later[i].after = static_cast<double>(i) * (what.quick ? 0.05 : 0.6);
  for (const way& by : ways) add("staggered", later, by);
  for (const way& by : ways) add("outsider", {k.cg}, by).outsider = true;
  const double seconds = what.quick ? 0.2 : 0.6;
  for (const int of_ranks : what.quick ? std::vector<int>{2} : std::vector<int>{2, 4})
    for (const int grain :
         what.quick ? std::vector<int>{1000} : std::vector<int>{100, 1000, 10'000})
      for (const int imbalance : what.quick ? std::vector<int>{100} : std::vector<int>{0, 50, 100})
        for (const char* mode : {"gang", "yield", "two-phase", "adaptive"})
          if (mode != std::string("yield") || mpi == "openmpi")
            add("bsp", of(bsp(grain, imbalance, of_ranks, seconds), 2), {mode});
  std::erase_if(all, [&](const cell& c) {
    const auto& wanted = what.parts;
    return c.part != "alone" && !wanted.empty() &&
           std::find(wanted.begin(), wanted.end(), c.part) == wanted.end();
  });
  return all;
}

// How long a job takes alone, as plain MPI runs it.
double alone(const std::vector<cell>& cells, const job& j) {
  for (const cell& c : cells) {
    if (c.part != "alone" || c.by.mode != "plain" || c.jobs[0].name() != j.name()) continue;
    std::vector<double> seconds;
    for (const auto& pass : c.seconds) seconds.push_back(pass[0]);
    return median(seconds);
  }
  return 0;
}

void take(cell& c, const std::vector<ended>& ends) {
  std::vector<double> seconds;
  double cpu = 0;
  c.counts.clear();
  for (const ended& e : ends) {
    seconds.push_back(e.seconds);
    cpu += e.cpu_seconds;
    for (const auto& [name, n] : e.counts) c.counts[name] += n;
  }
  c.seconds.push_back(seconds);
  c.cpu_seconds.push_back(cpu);
}

// The mean over the jobs of one pass, of time by fair share. By when they really began.
double by_fair_share(const std::vector<double>& seconds, const std::vector<double>& begins,
                     const std::vector<double>& lengths) {
  const auto fair = fair_seconds(begins, lengths);
  double sum = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) sum += seconds[i] / fair[i];
  return sum / static_cast<double>(seconds.size());
}

std::vector<timeline> timelines(const plan& what, const launcher& with, const fs::path& work,
                                std::chrono::seconds limit) {
  const kernels k(what.quick);
  job steps = bsp(5'000, 50, ranks, 1.2);
  steps.arguments.insert(steps.arguments.end(), {"--marks", "200"});
  const std::vector<std::vector<job>> shown = {{k.cg, k.cg, k.cg}, {steps, steps, steps}};
  std::vector<timeline> all;
  for (const auto& jobs : shown)
    for (const char* mode : {"plain", "gang", "two-phase"}) {
      timeline t;
      double from = 0;
      const auto ends = run_jobs(with, jobs, {mode}, false, work, limit,
                                 [&](const std::vector<int>& launchers, double begin) {
                                   from = begin + 0.1;
                                   t = sample(with, launchers, jobs, from, 300);
                                 });
      t.by = {mode};
      std::vector<std::size_t> seen(jobs.size());  // ranks of each job
      for (auto& r : t.ranks) {
        const auto& marks = ends[static_cast<std::size_t>(r.job)].marks;
        const std::size_t n = marks.size() / ranks, rank = seen[static_cast<std::size_t>(r.job)]++;
        for (std::size_t i = rank * n; i < std::min((rank + 1) * n, marks.size()); ++i)
          if (marks[i] >= from && marks[i] < from + 0.3) r.marks.push_back(marks[i] - from);
      }
      all.push_back(t);
    }
  return all;
}

}  // namespace

const std::vector<std::string> all_parts = {"copies",   "spin", "mixed",   "staggered",
                                            "outsider", "bsp",  "timeline"};

measured run(const plan& what, const std::function<void(int done, int all)>& progress) {
  for (const auto& part : what.parts)
    if (std::find(all_parts.begin(), all_parts.end(), part) == all_parts.end())
      throw apps::usage_error(
          fmt::format("--parts: expected some of {}, got '{}'", fmt::join(all_parts, ", "), part));
  const launcher with = find_launcher(what.cleave, what.mpi);
  const scratch work;
  const gang_daemon gang(with, work.path());
  measured m;
  m.date = today(), m.machine = apps::processor(), m.cpus = cpus_here(), m.mpi = with.mpi;
  m.size = what.quick ? "quick" : "full";
  m.passes = what.passes > 0 ? what.passes : what.quick ? 1 : 3;
  m.load_before = load();
  m.cells = cells_of(what, with.mpi);
  const std::size_t all = m.cells.size();
  const std::chrono::seconds limit(what.quick ? 60 : 180);
  const bool draws = what.parts.empty() || std::find(what.parts.begin(), what.parts.end(),
                                                     "timeline") != what.parts.end();
  const int runs = m.passes * static_cast<int>(all) + (draws ? 1 : 0);
  std::vector<std::vector<std::vector<double>>> begins(all);  // of each cell, pass and job
  const until_interrupted watching;
  int done = 0;
  for (int pass = 0; pass < m.passes && !is_interrupted(); ++pass) {
    for (std::size_t i = 0; i < all; ++i) {
      // Neighbours are the ways of one experiment; each pass begins elsewhere, every second runs
      // backwards.
      const std::size_t turned =
          (i + all * static_cast<std::size_t>(pass) / static_cast<std::size_t>(m.passes)) % all;
      const std::size_t at = pass % 2 == 0 ? turned : all - 1 - turned;
      cell& c = m.cells[at];
      progress(done++, runs);
      if (is_interrupted() || !c.failed.empty()) continue;
      try {
        const auto ends = run_jobs(with, c.jobs, c.by, c.outsider, work.path(), limit);
        take(c, ends);
        auto& of_pass = begins[at].emplace_back();
        for (const ended& e : ends) of_pass.push_back(e.begin);
      } catch (const std::runtime_error& e) {
        if (!is_interrupted()) c.failed = e.what();
      }
    }
  }
  for (std::size_t at = 0; at < all; ++at) {
    cell& c = m.cells[at];
    std::vector<double> lengths;
    for (const job& j : c.jobs) lengths.push_back(alone(m.cells, j));
    // With somebody else beside, or of another length, the fair share is not known.
    if (c.outsider || *std::min_element(lengths.begin(), lengths.end()) <= 0) continue;
    for (std::size_t pass = 0; pass < c.seconds.size(); ++pass)
      c.fair.push_back(by_fair_share(c.seconds[pass], begins[at][pass], lengths));
  }
  if (draws && !is_interrupted()) {
    progress(done++, runs);
    try {
      m.timelines = timelines(what, with, work.path(), limit);
    } catch (const std::runtime_error&) {
      if (!is_interrupted()) throw;
    }
  }
  progress(runs, runs);
  m.load_after = load();
  m.interrupted = is_interrupted();
  std::erase_if(m.cells, [](const cell& c) { return c.seconds.empty() && c.failed.empty(); });
  if (m.cells.empty()) throw std::runtime_error("interrupted before anything was measured");
  return m;
}

}  // namespace study::sharing
