#include "cosched_data.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "page.hpp"

extern const char cosched_template[];

namespace study::sharing {

std::string job::name() const {
  std::string text = program;
  for (const auto& a : arguments) text += " " + a;
  return text;
}

std::string way::name() const {
  return spin < 0 ? mode : mode + " " + std::to_string(spin) + " us";
}

namespace {

nlohmann::ordered_json json_of(const cell& c) {
  nlohmann::ordered_json o{{"part", c.part}, {"mode", c.by.mode}};
  if (c.by.spin >= 0) o["spin_us"] = c.by.spin;
  for (const job& j : c.jobs) {
    nlohmann::ordered_json one{{"name", j.name()}, {"program", j.program}, {"ranks", j.ranks}};
    if (j.after > 0) one["after"] = j.after;
    o["jobs"].push_back(one);
  }
  if (c.outsider) o["outsider"] = true;
  if (!c.failed.empty()) o["failed"] = c.failed;
  o["seconds"] = c.seconds;
  if (!c.fair.empty()) o["fair"] = c.fair;
  o["cpu_seconds"] = c.cpu_seconds;
  if (!c.counts.empty()) o["counts"] = c.counts;
  return o;
}

nlohmann::ordered_json json_of(const timeline& t) {
  nlohmann::ordered_json o{{"mode", t.by.mode}, {"jobs", t.jobs}, {"step", t.step}};
  for (const auto& r : t.ranks)
    o["ranks"].push_back(
        nlohmann::ordered_json{{"job", r.job}, {"ran", r.ran}, {"marks", r.marks}});
  return o;
}

}  // namespace

std::string to_json(const measured& m, bool indented) {
  nlohmann::ordered_json o{{"study", "cosched"},   {"date", m.date},
                           {"machine", m.machine}, {"cpus", m.cpus},
                           {"mpi", m.mpi},         {"size", m.size},
                           {"passes", m.passes},   {"load", {m.load_before, m.load_after}}};
  if (m.interrupted) o["interrupted"] = true;
  o["cells"] = nlohmann::ordered_json::array();
  o["timelines"] = nlohmann::ordered_json::array();
  for (const auto& c : m.cells) o["cells"].push_back(json_of(c));
  for (const auto& t : m.timelines) o["timelines"].push_back(json_of(t));
  return o.dump(indented ? 1 : -1);
}

std::string page(const measured& m) { return study::page(cosched_template, to_json(m)); }

std::vector<double> fair_seconds(const std::vector<double>& begins,
                                 const std::vector<double>& lengths) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const std::size_t n = begins.size();
  std::vector<double> left = lengths, took(n, 0.0);
  std::vector<bool> ended(n, false);
  double now = *std::min_element(begins.begin(), begins.end());
  for (std::size_t still = n; still > 0;) {
    double active = 0, until = never;
    for (std::size_t i = 0; i < n; ++i) {
      if (!ended[i] && begins[i] <= now) ++active;
      else if (!ended[i]) until = std::min(until, begins[i]);
    }
    for (std::size_t i = 0; i < n; ++i)
      if (!ended[i] && begins[i] <= now) until = std::min(until, now + left[i] * active);
    for (std::size_t i = 0; i < n; ++i) {
      if (ended[i] || begins[i] > now) continue;
      const double end = now + left[i] * active;
      left[i] -= (until - now) / active;
      if (end > until) continue;
      ended[i] = true, took[i] = until - begins[i], --still;
    }
    now = until;
  }
  return took;
}

}  // namespace study::sharing
