#include "md_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace study::dynamics {
namespace {

using found = std::vector<finding>;
using verdict = finding::verdict;
verdict judged(bool holds) { return holds ? verdict::holds : verdict::fails; }
constexpr int many = 32;  // from so many processors on the paper's was faster

// Both ways of one system on so many nodes.
struct pair {
  const cell *free = nullptr, *strict = nullptr;
  int nodes() const { return free->nodes; }
  double ratio(const std::string& value) const {
    return median_of(*strict, value) / std::max(median_of(*free, value), 1e-12);
  }
  bool is_whole() const { return free != nullptr && strict != nullptr; }
};

pair pair_of(const measured& m, const std::string& system, const std::string& by, int nodes) {
  return {m.find(system, by, nodes, way::dependences), m.find(system, by, nodes, way::synchronous)};
}

// On the most nodes that were simulated, but not more than `limit`.
pair largest(const measured& m, const std::string& system, int limit) {
  pair p;
  for (const int n : m.what.nodes)
    if (const pair at = pair_of(m, system, "simulated", n); n <= limit && at.is_whole()) p = at;
  return p;
}

std::string in_ms(const cell& c, const std::string& value) {
  return fmt::format("{:.2f} ms", 1e3 * median_of(c, value));
}

void add_many(found& to, const measured& m, const system& s) {
  const pair p = largest(m, s.name, s.like == "lysozyme" ? 175 : 125);
  if (!p.is_whole()) return;
  const std::string paper =
      s.like == "lysozyme"
          ? "lysozyme, 175 processors: by dependences 3.36 s, in synchronous steps 12.8 s: 3.80 "
            "times as long"
          : "BPTI, 125 processors: by dependences 2.28 s, in synchronous steps 7.97 s: 3.49 times "
            "as long";
  to.push_back(
      {paper, s.name,
       fmt::format("{} nodes, simulated: {} and {}: {:.2f} times as long", p.nodes(),
                   in_ms(*p.free, "seconds"), in_ms(*p.strict, "seconds"), gain(m, *p.free)),
       p.nodes() < many ? verdict::unknown : judged(gain(m, *p.free) > 1.05)});
}

void add_speedup(found& to, const measured& m, const system& s) {
  const pair p = largest(m, s.name, 175);
  const cell* const one = m.find(s.name, "simulated", 1, way::dependences);
  if (!p.is_whole() || one == nullptr) return;
  const double alone = median_of(*one, "seconds");
  to.push_back(
      {"the best speed-ups: by dependences 30.0 (BPTI) and 40.5 (lysozyme), in synchronous "
       "steps 8.58 and 10.7",
       s.name,
       fmt::format("{} nodes, simulated: {:.1f} and {:.1f}", p.nodes(),
                   alone / median_of(*p.free, "seconds"), alone / median_of(*p.strict, "seconds")),
       verdict::unknown});
}

// What dependences need of a time that synchronous steps need, on 64 nodes.
void add_share(found& to, const measured& m, const system& s, const std::string& paper,
               const std::string& value, const std::string& how) {
  const pair p = largest(m, s.name, 64);
  if (!p.is_whole()) return;
  const double ratio = std::max(p.ratio(value), 1e-12);
  to.push_back({paper, s.name,
                fmt::format("{} nodes, {}: {} and {}: {:.0f} %", p.nodes(), how,
                            in_ms(*p.strict, value), in_ms(*p.free, value), 100 / ratio),
                p.nodes() < many ? verdict::unknown : judged(ratio > 1.05)});
}
void add_waiting(found& to, const measured& m, const system& s) {
  add_share(to, m, s,
            "64 processors: synchronous steps wait 2.87 s, dependences 0.426 s, which is 14.8 % of "
            "that",
            "waiting", "simulated");
}
void add_communicating(found& to, const measured& m, const system& s) {
  add_share(to, m, s,
            "64 processors: synchronous steps communicate 8.59 s, dependences 1.34 s, which is "
            "15.6 % of that",
            "communicating", "simulated with equal messages");
}

// Each pair that was measured, not simulated.
std::vector<pair> measured_pairs(const measured& m, const system& s) {
  std::vector<pair> all;
  for (const cell& c : m.cells)
    if (c.system == s.name && c.by != "simulated" && c.how == way::dependences)
      if (const pair p = pair_of(m, s.name, c.by, c.nodes); p.is_whole()) all.push_back(p);
  return all;
}

// On so many nodes, the times of the three ways that say where subtasks run.
void add_allocation(found& to, const measured& m, const system& s, int nodes,
                    const std::string& paper) {
  std::vector<const cell*> all;
  for (const way by : {way::dynamic, way::initial_plan, way::improved_plan, way::dependences})
    all.push_back(m.find(s.name, "simulated", nodes, by));
  if (std::ranges::find(all, nullptr) != all.end()) return;
  const auto of = [&all](std::size_t k) { return median_of(*all[k], "seconds"); };
  to.push_back({paper, s.name,
                fmt::format("{} nodes, simulated: {}, {} and {}; without plan {}", nodes,
                            in_ms(*all[0], "seconds"), in_ms(*all[1], "seconds"),
                            in_ms(*all[2], "seconds"), in_ms(*all[3], "seconds")),
                judged(of(2) < of(0) && of(2) < of(1))});
}
void add_16(found& to, const measured& m, const system& s) {
  add_allocation(
      to, m, s, 16,
      "16 processors: allocated dynamically 6.38 s, by an initial plan 6.17 s, by a plan "
      "improved by measured times 5.77 s (table 1)");
}
void add_32(found& to, const measured& m, const system& s) {
  add_allocation(to, m, s, 32, "32 processors: 2.73 s, 2.99 s, 2.58 s (table 1)");
}

void add_computing(found& to, const measured& m, const system& s) {
  std::vector<std::string> ratios;
  bool alike = true;
  for (const pair& p : measured_pairs(m, s)) {
    const double ratio = p.ratio("computing");
    alike = alike && ratio > 1 / 1.1 && ratio < 1.1;
    ratios.push_back(fmt::format("{:.2f}", ratio));
  }
  if (ratios.empty()) return;
  to.push_back({"computing takes as long in both ways (figure 9)", s.name,
                fmt::format("in synchronous steps {} times as long (one worker, then more)",
                            fmt::join(ratios, ", ")),
                judged(alike)});
}

void add_few(found& to, const measured& m, const system& s) {
  std::vector<std::string> gains;
  bool loses = false;
  for (const pair& p : measured_pairs(m, s)) {
    const double times = 1 / std::max(gain(m, *p.free), 1e-12);
    loses = loses || times > 1.05;
    gains.push_back(fmt::format(
        "{:.3f} ({})", times,
        p.nodes() == 1
            ? "1 worker"
            : fmt::format("{} {}", p.nodes(), p.free->by == "workers" ? "workers" : p.free->by)));
  }
  if (gains.empty()) return;
  to.push_back(
      {"below 32 processors dependences lose: with 2 they take 171 s, synchronous steps "
       "34.8 s (lysozyme: 530 and 68.4)",
       s.name,
       fmt::format("by dependences, in times of synchronous steps: {}", fmt::join(gains, ", ")),
       judged(loses)});
}

}  // namespace

std::string finding::in_words() const {
  return is == verdict::holds ? "yes" : is == verdict::fails ? "no" : "";
}

std::vector<finding> findings_of(const measured& m) {
  found all;
  for (const auto add : {add_many, add_speedup, add_waiting, add_communicating, add_computing,
                         add_few, add_16, add_32})
    for (const system& s : m.what.systems) add(all, m, s);
  if (!m.disturbance().empty())
    for (finding& f : all) f.is = verdict::unknown;
  return all;
}

}  // namespace study::dynamics
