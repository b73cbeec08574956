#include "cosched_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "measured.hpp"

namespace study::sharing {
namespace {

using by_pass = std::map<int, double>;

// The mean of a cell's runs, in each pass.
template <class F>
by_pass in_passes(const cell& c, std::size_t runs, F value) {
  std::map<int, std::vector<double>> all;
  for (std::size_t i = 0; i < std::min(runs, c.passes.size()); ++i)
    all[c.passes[i]].push_back(value(i));
  by_pass means;
  for (const auto& [pass, values] : all)
    means[pass] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return means;
}

by_pass seconds_of(const cell& c) {
  return in_passes(c, c.seconds.size(), [&c](std::size_t i) {
    const auto& jobs = c.seconds[i];
    return std::accumulate(jobs.begin(), jobs.end(), 0.0) / static_cast<double>(jobs.size());
  });
}

// The cells of one set of jobs, one for each way.
struct row {
  std::string part, jobs;
  std::map<std::string, const cell*> by;
};

std::vector<row> rows_of(const measured& m) {
  std::vector<row> rows;
  for (const cell& c : m.cells) {
    if (!c.failed.empty() || c.seconds.empty() || c.by.spin >= 0) continue;
    const std::string name = c.title();
    auto at = std::find_if(rows.begin(), rows.end(),
                           [&](const row& r) { return r.part == c.part && r.jobs == name; });
    if (at == rows.end()) at = rows.insert(rows.end(), {c.part, name, {}});
    at->by[c.by.mode] = &c;
  }
  return rows;
}

class collector {
public:
  std::vector<figure> all;

  void add(const std::string& goal, const row& r, const std::string& mode, double limit,
           bool at_most, const std::vector<double>& values) {
    if (values.empty()) return;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    all.push_back({goal, r.jobs, mode, limit, at_most, median(values), *least, *most});
  }
  // Compares the time of this way with the other's; `faster`: the other way round, and at least the
  // limit.
  void compare(const std::string& goal, const row& r, const std::string& mode,
               const std::string& other, double limit, bool faster = false) {
    const auto mine = r.by.find(mode), others = r.by.find(other);
    if (mine == r.by.end() || others == r.by.end()) return;
    const by_pass a = seconds_of(*mine->second), b = seconds_of(*others->second);
    std::vector<double> ratios;
    for (const auto& [pass, seconds] : a)
      if (const auto same = b.find(pass); same != b.end())
        ratios.push_back(faster ? same->second / seconds : seconds / same->second);
    add(goal, r, mode, limit, !faster, ratios);
  }
};

bool all_are(const row& r, const std::string& program) {
  const auto& jobs = r.by.begin()->second->jobs;
  return std::all_of(jobs.begin(), jobs.end(), [&](const job& j) { return j.program == program; });
}

void compare_all(collector& to, const row& r, const std::string& mode) {
  const bool many =
      r.part == "mixed" || (r.part == "copies" && r.by.begin()->second->jobs.size() < 4);
  if (r.part == "alone") to.compare("alone, in times of plain MPI", r, mode, "plain", 1.03);
  if (many) {
    if (const auto c = r.by.find(mode); c != r.by.end())
      to.add("at once, in fair shares", r, mode, 1.06, true, c->second->fair);
    to.compare("at once, in times of gang", r, mode, "gang", r.part == "mixed" ? 1 : 1.02);
  }
  if (r.part == "copies" && many && all_are(r, "cg"))
    to.compare("at once, times as fast as plain MPI", r, mode, "plain", 2, true);
  if (r.part == "mixed") to.compare("mixed, in times of yielding", r, mode, "yield", 1);
  if (r.part == "outsider") {
    to.compare("beside an outsider, in times of yielding", r, mode, "yield", 1);
    to.compare("beside an outsider, in times of gang", r, mode, "gang", 1);
  }
  // Jobs with less imbalance have less to win than that.
  if (r.part == "bsp" && r.jobs.find("--imbalance 100") != std::string::npos)
    to.compare("imbalanced, times as fast as gang", r, mode, "gang", 1.2, true);
}

void compare_cpu_seconds(collector& to, const row& r, const measured& m) {
  const auto found = r.by.find("two-phase");
  if (found == r.by.end() || r.part == "bsp" || r.part == "outsider") return;
  const cell& c = *found->second;
  const double useful = useful_cpu_seconds(m, c.jobs);
  if (useful <= 0) return;
  std::vector<double> ratios;
  for (const auto& [pass, seconds] :
       in_passes(c, c.cpu_seconds.size(), [&c](std::size_t i) { return c.cpu_seconds[i]; }))
    if (std::isfinite(seconds)) ratios.push_back(seconds / useful);
  to.add("CPU seconds, in times of the useful ones", r, "two-phase", 1.05, true, ratios);
}

}  // namespace

std::vector<figure> figures_of(const measured& m) {
  collector to;
  const auto rows = rows_of(m);
  for (const row& r : rows)
    for (const char* mode : {"two-phase", "adaptive"}) compare_all(to, r, mode);
  for (const row& r : rows) compare_cpu_seconds(to, r, m);
  std::vector<figure> by_goal;
  while (!to.all.empty()) {
    const std::string goal = to.all.front().goal;
    const auto is = [&](const figure& f) { return f.goal == goal; };
    std::copy_if(to.all.begin(), to.all.end(), std::back_inserter(by_goal), is);
    std::erase_if(to.all, is);
  }
  return by_goal;
}

}  // namespace study::sharing
