#include "cosched_data.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "cosched_figures.hpp"
#include "measured.hpp"
#include "page.hpp"

extern const char cosched_template[];

namespace study::sharing {

std::string job::name() const {
  std::string text = program;
  for (const auto& a : arguments) text += " " + a;
  return text;
}

std::string job::title() const {
  std::string text = program;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--times" || arguments[i] == "--steps") ++i;
    else text += " " + arguments[i];
  }
  return text;
}

std::string cell::title() const {
  std::string text = jobs[0].title();
  if (jobs.size() > 1 && jobs[1].program != jobs[0].program) text += " with " + jobs[1].title();
  else if (jobs.size() > 1) text = std::to_string(jobs.size()) + " x " + text;
  if (jobs[0].ranks != 2) text += ", " + std::to_string(jobs[0].ranks) + " ranks";
  if (jobs.back().after > 0) text += ", staggered";
  return outsider ? text + " beside an outsider" : text;
}

std::string way::name() const {
  return spin < 0 ? mode : mode + " " + std::to_string(spin) + " us";
}

namespace {

nlohmann::ordered_json json_of(const cell& c) {
  nlohmann::ordered_json o{{"part", c.part}, {"mode", c.by.mode}};
  if (c.by.spin >= 0) o["spin_us"] = c.by.spin;
  for (const job& j : c.jobs) {
    nlohmann::ordered_json one{
        {"name", j.name()}, {"title", j.title()}, {"program", j.program}, {"ranks", j.ranks}};
    if (j.after > 0) one["after"] = j.after;
    o["jobs"].push_back(one);
  }
  if (c.outsider) o["outsider"] = true;
  if (!c.failed.empty()) o["failed"] = c.failed;
  if (c.stopped > 0) o["stopped"] = c.stopped;
  o["in_passes"] = c.passes;
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

nlohmann::ordered_json json_of(const figure& f) {
  return {{"goal", f.goal},
          {"jobs", f.jobs},
          {"mode", f.mode},
          {"measured", f.measured},
          {"least", f.least},
          {"most", f.most},
          {f.at_most ? "at_most" : "at_least", f.limit},
          {"met", f.met()}};
}

}  // namespace

std::string to_json(const measured& m, bool indented) {
  nlohmann::ordered_json o{{"study", "cosched"},   {"date", m.date},     {"machine", m.machine},
                           {"cpus", m.cpus},       {"mpi", m.mpi},       {"size", m.size},
                           {"seconds", m.seconds}, {"passes", m.passes}, {"whole_passes", m.whole}};
  add_to(o, m.beside, m.cpus);
  if (m.interrupted) o["interrupted"] = true;
  if (m.out_of_time) o["out_of_time"] = true;
  o["figures"] = nlohmann::ordered_json::array();
  for (const auto& f : figures_of(m)) o["figures"].push_back(json_of(f));
  o["cells"] = nlohmann::ordered_json::array();
  o["timelines"] = nlohmann::ordered_json::array();
  for (const auto& c : m.cells) o["cells"].push_back(json_of(c));
  for (const auto& t : m.timelines) o["timelines"].push_back(json_of(t));
  return o.dump(indented ? 1 : -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<double> known_cpu_seconds(const cell& c) {
  std::vector<double> known;
  std::copy_if(c.cpu_seconds.begin(), c.cpu_seconds.end(), std::back_inserter(known),
               [](double s) { return std::isfinite(s); });
  return known;
}

double useful_cpu_seconds(const measured& m, const std::vector<job>& jobs) {
  double sum = 0;
  for (const job& j : jobs) {
    const auto c = std::find_if(m.cells.begin(), m.cells.end(), [&j](const cell& one) {
      return one.jobs.size() == 1 && !one.outsider && one.by.mode == "block" && one.by.spin < 0 &&
             one.jobs[0].name() == j.name() && one.jobs[0].ranks == j.ranks;
    });
    if (c == m.cells.end() || !c->failed.empty()) return 0;
    const auto known = known_cpu_seconds(*c);
    if (known.empty()) return 0;
    sum += median(known);
  }
  return sum;
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
