#include "tsp_data.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measured.hpp"
#include "page.hpp"
#include "tsp_findings.hpp"

extern const char tsp_template[];

namespace study::tours {
namespace {

using json = nlohmann::ordered_json;

json json_of(const plan& p) {
  return {{"quick", p.quick},
          {"mpi", p.mpi},
          {"side", p.side},
          {"tours", p.tours},
          {"changes", p.changes},
          {"searchers", p.searchers},
          {"organisations", p.organisations},
          {"rules", p.rules},
          {"passes", p.passes}};
}

plan plan_of(const json& o) {
  plan p;
  p.quick = o.at("quick"), p.mpi = o.at("mpi");
  for (auto [to, name] : {std::pair{&p.side, "side"}, std::pair{&p.tours, "tours"},
                          std::pair{&p.changes, "changes"}, std::pair{&p.passes, "passes"}}) {
    *to = o.at(name);
    if (*to < 1) throw std::runtime_error(std::string("\"") + name + "\": " + o.at(name).dump());
  }
  p.searchers = o.at("searchers").get<std::vector<int>>();
  const auto names = [&o](const char* name, const std::vector<std::string>& expected) {
    const auto found = o.at(name).get<std::vector<std::string>>();
    for (const auto& one : found)
      if (std::find(expected.begin(), expected.end(), one) == expected.end())
        throw std::runtime_error(std::string("\"") + name + "\": " + one);
    return found;
  };
  p.organisations = names("organisations", all_organisations);
  p.rules = names("rules", all_rules);
  return p;
}

json json_of(const cell& c) {
  json o{{"organisation", c.organisation}, {"rule", c.rule}, {"searchers", c.searchers}};
  for (const auto& name : all_values)
    if (const auto at = c.values.find(name); at != c.values.end()) o[name] = at->second;
  return o;
}

cell cell_of(const json& o) {
  cell c{o.at("organisation"), o.at("rule"), o.at("searchers"), {}};
  for (const auto& name : all_values)
    if (o.contains(name)) c.values[name] = o.at(name).get<std::vector<double>>();
  return c;
}

// The median over the passes of what one searcher takes by what these take.
double times_of(const measured& m, const cell& c, const char* value) {
  const cell* const one = m.alone();
  const auto theirs = c.values.find(value);
  if (one == nullptr || theirs == c.values.end()) return 0;
  const auto& before = one->values.at(value);
  std::vector<double> times;
  for (std::size_t i = 0; i < std::min(before.size(), theirs->second.size()); i++)
    times.push_back(before[i] / theirs->second[i]);
  return median(times);
}

}  // namespace

std::string cell::name() const {
  return organisation.empty() ? "one" : rule.empty() ? organisation : organisation + ", " + rule;
}

const cell* measured::find(const std::string& organisation, const std::string& rule,
                           int searchers) const {
  const cell like{organisation, rule, searchers, {}};
  return find_same(cells, like);
}

double median_of(const cell& c, const std::string& value) {
  const auto at = c.values.find(value);
  return at == c.values.end() ? 0 : median(at->second);
}

double speedup(const measured& m, const cell& c) { return times_of(m, c, "seconds"); }
double speedup_by_work(const measured& m, const cell& c) {
  return c.searchers * times_of(m, c, "run_seconds");
}

std::string to_json(const measured& m, bool indented) {
  json o = head_of("tsp", m, json_of(m.what));
  o["missing"] = m.missing;
  o["findings"] = json::array();
  for (const auto& f : findings_of(m))
    o["findings"].push_back({{"paper", f.paper}, {"here", f.here}, {"holds", f.in_words()}});
  o["failures"] = json::array();
  for (const auto& f : m.failures) {
    o["failures"].push_back(json_of(f.of));
    o["failures"].back()["reason"] = f.reason;
  }
  o["cells"] = json::array();
  for (const auto& c : m.cells) {
    json one = json_of(c);
    one["speedup"] = speedup(m, c), one["speedup_by_work"] = speedup_by_work(m, c);
    o["cells"].push_back(one);
  }
  return in_text(o, indented);
}

measured read_measured(const std::string& file) {
  measured m;
  read_study(file, "tsp", m, [&m](const json& o) {
    m.what = plan_of(o.at("plan"));
    m.missing = o.at("missing");
    for (const auto& f : o.at("failures")) m.failures.push_back({cell_of(f), f.at("reason")});
    for (const auto& c : o.at("cells")) m.cells.push_back(cell_of(c));
  });
  return m;
}

std::string page(const measured& m) { return study::page(tsp_template, to_json(m)); }

}  // namespace study::tours
