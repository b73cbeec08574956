#include "cosched_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cpus.hpp"
#include "support/command_line.hpp"

namespace study::sharing {
namespace {

using names = std::vector<std::string>;

bool has(const names& some, const std::string& name) {
  return std::find(some.begin(), some.end(), name) != some.end();
}
bool is_wanted(const names& some, const std::string& name) {
  return some.empty() || has(some, name);
}

void check(const std::string& option, const names& given, const names& expected) {
  for (const auto& name : given)
    if (!has(expected, name))
      throw apps::usage_error(fmt::format("{}: expected some of {}, got '{}'", option,
                                          fmt::join(expected, ", "), name));
}

std::vector<job> copies(const job& j, int n) {
  return std::vector<job>(static_cast<std::size_t>(n), j);
}

class list {
public:
  list(const choice& what, const std::string& mpi) : what_(&what), mpi_(&mpi) {}

  void add(const std::string& part, const std::vector<job>& jobs, const names& ways,
           bool outsider = false) {
    if (part != "alone" && !is_wanted(what_->parts, part)) return;
    for (const auto& mode : ways) {
      const bool reference = part == "alone" && mode == "plain";
      if (!reference && !is_wanted(what_->ways, mode)) continue;
      if (mode != "yield" || *mpi_ == "openmpi") put(part, jobs, {mode}).outsider = outsider;
    }
  }
  void add_spin(const std::vector<job>& jobs, int spin) {
    if (is_wanted(what_->parts, "spin")) put("spin", jobs, {"two-phase", spin});
  }

  cases all;

private:
  cell& put(const std::string& part, const std::vector<job>& jobs, const way& by) {
    cell& c = all.cells.emplace_back();
    c.part = part, c.jobs = jobs, c.by = by;
    return c;
  }

  const choice* what_;
  const std::string* mpi_;
};

// Adds what the goals are about, and nothing else.
void add_figures(list& to, const kernels& k, double seconds) {
  const int ranks = k.cg.ranks;
  const names ways = {"plain", "yield", "gang", "two-phase", "adaptive"};
  for (const job& j : {k.cg, k.ft}) to.add("alone", {j}, {"plain", "two-phase", "adaptive"});
  // The goal for a job alone is a few per cent, so there are twice as many runs.
  for (std::size_t i = 0; i < to.all.cells.size(); ++i) to.all.pass.push_back(i);
  for (const job& j : {k.cg, k.ft}) to.add("alone", {j}, {"block"});
  for (int n = 2; n <= 3; ++n)
    for (const job& j : {k.cg, k.ft}) to.add("copies", copies(j, n), ways);
  to.add("mixed", {k.cg, k.ft}, ways);
  to.add("outsider", {k.cg}, ways, true);
  for (const int grain : {100, 1000, 10'000})
    to.add("bsp", copies(bsp(grain, 100, ranks, k.fill, seconds), 2),
           {"gang", "two-phase", "adaptive"});
  for (const int grain : {1000, 10'000})
    to.add("idle", {bsp(grain, 100, ranks, k.fill, seconds / 2)},
           {"yield", "block", "two-phase", "adaptive"});
}

void add_all(list& to, const choice& what, const kernels& k, double seconds) {
  const int ranks = k.cg.ranks;
  for (const job& j : {k.cg, k.ft}) to.add("alone", {j}, all_ways);
  for (int n = 2; n <= (what.quick ? 2 : 4); ++n)
    for (const job& j : {k.cg, k.ft}) to.add("copies", copies(j, n), all_ways);
  const std::vector<int> spins =
      what.quick ? std::vector<int>{0, 100} : std::vector<int>{0, 10, 30, 100, 300, 1000, 3000};
  for (int n = 1; n <= (what.quick ? 2 : 3); ++n)
    for (const job& j : {k.cg, k.ft})
      for (const int spin : spins) to.add_spin(copies(j, n), spin);
  to.add("mixed", {k.cg, k.ft}, all_ways);
  std::vector<job> later = copies(k.cg, 3);
  for (std::size_t i = 0; i < later.size(); ++i)
    later[i].after = static_cast<double>(i) * seconds / 3;
  to.add("staggered", later, all_ways);
  to.add("outsider", {k.cg}, all_ways, true);
  const names ways = {"gang", "yield", "two-phase", "adaptive"};
  for (const int of_ranks :
       what.quick ? std::vector<int>{ranks} : std::vector<int>{ranks, 2 * ranks})
    for (const int grain :
         what.quick ? std::vector<int>{1000} : std::vector<int>{100, 1000, 10'000})
      for (const int imbalance : what.quick ? std::vector<int>{100} : std::vector<int>{0, 50, 100})
        to.add("bsp", copies(bsp(grain, imbalance, of_ranks, k.fill, seconds / 3), 2), ways);
  for (const int grain : {1000, 10'000})
    to.add("idle", {bsp(grain, 100, ranks, k.fill, seconds / 3)}, all_ways);
}

}  // namespace

const names all_parts = {"copies",   "spin", "mixed", "staggered",
                         "outsider", "bsp",  "idle",  "timeline"};
const names all_ways = {"plain", "yield", "gang", "block", "two-phase", "logp", "adaptive"};

kernels::kernels(bool quick, int ranks)
    : cg{"cg", {quick ? "W" : "A"}, ranks},
      ft{"ft", {quick ? "S" : "A"}, ranks},
      fill(std::min(ranks, static_cast<int>(cpus_allowed().size()))) {}

void make_last(job& j, double once, double seconds) {
  const int times = std::max(1, static_cast<int>(std::lround(seconds / once)));
  if (times > 1) j.arguments.insert(j.arguments.end(), {"--times", std::to_string(times)});
  j.expected = once * times;
}

job bsp(int grain, int imbalance, int ranks, int fill, double seconds) {
  // A step takes what the slowest rank takes: the mean of the largest of some numbers from 0 to 1.
  const double largest = static_cast<double>(ranks) / (ranks + 1);
  const double step = 1e-6 * grain * (1 + 0.01 * imbalance * (2 * largest - 1));
  const int steps = std::max(20, static_cast<int>(seconds / step));
  return {"bsp",
          {std::to_string(grain), "--imbalance", std::to_string(imbalance), "--steps",
           std::to_string(steps)},
          ranks,
          0,
          step * steps * ranks / fill};
}

cases cases_of(const choice& what, const std::string& mpi, const kernels& k, double seconds) {
  check("--parts", what.parts, all_parts);
  check("--ways", what.ways, all_ways);
  list to(what, mpi);
  if (what.figures) add_figures(to, k, seconds);
  else add_all(to, what, k, seconds);
  for (std::size_t i = 0; i < to.all.cells.size(); ++i) to.all.pass.push_back(i);
  return to.all;
}

double fair_end(const cell& c) {
  std::vector<double> begins, lengths;
  for (const job& j : c.jobs) begins.push_back(j.after), lengths.push_back(j.expected);
  if (c.outsider) begins.push_back(0), lengths.push_back(lengths[0]);
  const auto took = fair_seconds(begins, lengths);
  double end = 0;
  for (std::size_t i = 0; i < c.jobs.size(); ++i) end = std::max(end, begins[i] + took[i]);
  return end;
}

}  // namespace study::sharing
