#include "md_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "md_findings.hpp"
#include "measured.hpp"
#include "page.hpp"

extern const char md_template[];

namespace study::dynamics {
namespace {

using json = nlohmann::ordered_json;
using cleave::detail::message_costs;

way way_of(const json& name) {
  for (const way by : all_ways)
    if (name == name_of(by)) return by;
  throw std::runtime_error("\"way\": " + name.dump());
}

json json_of(const system& s) {
  return {{"name", s.name},   {"about", s.about},   {"like", s.like},
          {"atoms", s.atoms}, {"blocks", s.blocks}, {"arguments", s.arguments}};
}
system system_of(const json& o) {
  return {o.at("name"),  o.at("about"),  o.at("like"),
          o.at("atoms"), o.at("blocks"), o.at("arguments").get<std::vector<std::string>>()};
}

json json_of(const plan& p) {
  json o{{"quick", p.quick}, {"mpis", p.mpis},     {"ranks", p.ranks},          {"nodes", p.nodes},
         {"steps", p.steps}, {"passes", p.passes}, {"recordings", p.recordings}};
  const auto cost = [](const message_costs::cost& c) { return json{c.fixed, c.per_byte}; };
  o["messages"] = {{"sending", cost(p.messages.sending)},
                   {"transit", cost(p.messages.transit)},
                   {"receiving", cost(p.messages.receiving)}};
  o["network"] = p.network;
  o["systems"] = json::array();
  for (const auto& s : p.systems) o["systems"].push_back(json_of(s));
  return o;
}

plan plan_of(const json& o) {
  plan p;
  p.quick = o.at("quick");
  for (auto [to, name] : {std::pair{&p.steps, "steps"}, std::pair{&p.passes, "passes"},
                          std::pair{&p.recordings, "recordings"}}) {
    *to = o.at(name);
    if (*to < 1) throw std::runtime_error(std::string("\"") + name + "\": " + o.at(name).dump());
  }
  p.mpis = o.at("mpis").get<std::vector<std::string>>();
  for (auto [to, name] : {std::pair{&p.ranks, "ranks"}, std::pair{&p.nodes, "nodes"}}) {
    *to = o.at(name).get<std::vector<int>>();
    if (std::ranges::any_of(*to, [](int n) { return n < 1; }))
      throw std::runtime_error(std::string("\"") + name + "\": " + o.at(name).dump());
  }
  for (const auto& s : o.at("systems")) p.systems.push_back(system_of(s));
  const auto& costs = o.at("messages");
  for (auto [to, name] :
       {std::pair{&p.messages.sending, "sending"}, std::pair{&p.messages.transit, "transit"},
        std::pair{&p.messages.receiving, "receiving"}})
    *to = {costs.at(name).at(0), costs.at(name).at(1)};
  p.network = o.at("network");
  return p;
}

json json_of(const cell& c) {
  json o{{"system", c.system}, {"by", c.by}, {"nodes", c.nodes}, {"way", name_of(c.how)}};
  for (const auto& name : all_values)
    if (const auto at = c.values.find(name); at != c.values.end()) o[name] = at->second;
  for (const auto& name : rank_values)
    if (const auto at = c.ranks.find(name); at != c.ranks.end()) o["of_ranks"][name] = at->second;
  return o;
}

cell cell_of(const json& o) {
  cell c{o.at("system"), o.at("by"), o.at("nodes"), way_of(o.at("way")), {}, {}};
  for (const auto& name : all_values)
    if (o.contains(name)) c.values[name] = o.at(name).get<std::vector<double>>();
  if (o.contains("of_ranks"))
    c.ranks = o.at("of_ranks").get<std::map<std::string, std::vector<std::vector<double>>>>();
  return c;
}

double tenths(double microseconds) { return std::round(10 * microseconds) / 10; }

// A span is a list of four numbers: node, what it does, from when, for how long.
json json_of(const timeline& t) {
  json o{{"system", t.system}, {"nodes", t.nodes}, {"subtasks", t.subtasks}};
  o["parts"] = json::array();
  for (const auto& p : t.parts) {
    json spans = json::array(), of_nodes = json::array();
    for (const auto& s : p.spans)
      spans.push_back({s.node, s.what, tenths(s.begin), tenths(s.end - s.begin)});
    for (const auto& n : p.of_nodes)
      of_nodes.push_back({tenths(n.computing), tenths(n.communicating), tenths(n.waiting)});
    o["parts"].push_back({{"way", name_of(p.how)},
                          {"seconds", p.seconds},
                          {"spans", spans},
                          {"of_nodes", of_nodes}});
  }
  return o;
}

timeline timeline_of(const json& o) {
  timeline t{o.at("system"), o.at("nodes"), o.at("subtasks").get<std::vector<std::string>>(), {}};
  for (const auto& p : o.at("parts")) {
    timeline::part one{way_of(p.at("way")), p.at("seconds"), {}, {}};
    for (const auto& s : p.at("spans"))
      one.spans.push_back(
          {s.at(0), s.at(1), s.at(2), s.at(2).get<double>() + s.at(3).get<double>()});
    for (const auto& n : p.at("of_nodes")) one.of_nodes.push_back({n.at(0), n.at(1), n.at(2)});
    t.parts.push_back(std::move(one));
  }
  return t;
}

}  // namespace

std::string name_of(way by) {
  switch (by) {
    case way::synchronous: return "synchronous";
    case way::loose: return "without barrier";
    case way::dynamic: return "dynamic";
    case way::initial_plan: return "initial plan";
    case way::improved_plan: return "improved plan";
    default: return "dependences";
  }
}

std::string cell::name() const {
  const auto on = nodes == 1          ? std::string("one worker")
                  : by == "simulated" ? fmt::format("{} nodes, simulated", nodes)
                  : by == "workers"   ? fmt::format("{} workers", nodes)
                                      : fmt::format("{} ranks by {}", nodes, by);
  return fmt::format("{}, {}, {}", system, on, name_of(how));
}

const cell* measured::find(const std::string& system, const std::string& by, int nodes,
                           way how) const {
  const cell like{system, by, nodes, how, {}, {}};
  return find_same(cells, like);
}

double median_of(const cell& c, const std::string& value) {
  const auto at = c.values.find(value);
  return at == c.values.end() ? 0 : median(at->second);
}

double gain(const measured& m, const cell& c, way other) {
  const cell* const twin = m.find(c.system, c.by, c.nodes, other);
  const auto ours = c.values.find("seconds");
  if (twin == nullptr || ours == c.values.end()) return 0;
  const auto& theirs = twin->values.at("seconds");
  std::vector<double> times;
  for (std::size_t i = 0; i < std::min(theirs.size(), ours->second.size()); i++)
    times.push_back(theirs[i] / ours->second[i]);
  return median(times);
}

std::string to_json(const measured& m, bool indented) {
  json o = head_of("md", m, json_of(m.what));
  o["missing"] = m.missing;
  o["findings"] = json::array();
  for (const auto& f : findings_of(m))
    o["findings"].push_back(
        {{"paper", f.paper}, {"system", f.system}, {"here", f.here}, {"holds", f.in_words()}});
  o["failures"] = json::array();
  for (const auto& f : m.failures) {
    o["failures"].push_back(json_of(f.of));
    o["failures"].back()["reason"] = f.reason;
  }
  o["cells"] = json::array();
  for (const auto& c : m.cells) {
    o["cells"].push_back(json_of(c));
    if (c.how == way::dependences) o["cells"].back()["gain"] = gain(m, c);
  }
  json timelines = json::array();
  for (const auto& t : m.timelines) timelines.push_back(json_of(t));
  if (indented) {  // but for the timelines, which have thousands of numbers
    std::string all = in_text(o, true);
    all.resize(all.size() - 2);
    return all + ",\n \"timelines\": " + in_text(timelines, false) + "\n}";
  }
  o["timelines"] = timelines;
  return in_text(o, false);
}

measured read_measured(const std::string& file) {
  measured m;
  read_study(file, "md", m, [&m](const json& o) {
    m.what = plan_of(o.at("plan"));
    m.missing = o.at("missing").get<std::vector<std::string>>();
    for (const auto& f : o.at("failures")) m.failures.push_back({cell_of(f), f.at("reason")});
    for (const auto& c : o.at("cells")) m.cells.push_back(cell_of(c));
    for (const auto& t : o.at("timelines")) m.timelines.push_back(timeline_of(t));
  });
  return m;
}

std::string page(const measured& m) { return study::page(md_template, to_json(m)); }

}  // namespace study::dynamics
