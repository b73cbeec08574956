#include "net_data.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measured.hpp"
#include "net_findings.hpp"
#include "page.hpp"

extern const char net_template[];

namespace study::networks {
namespace {

using json = nlohmann::ordered_json;

json json_of(const plan& p) {
  return {{"quick", p.quick},
          {"networks", p.networks},
          {"ranks", p.ranks},
          {"broadcast_ranks", p.broadcast_ranks},
          {"latency", p.bytes.latency},
          {"throughput", p.bytes.throughput},
          {"broadcast", p.bytes.broadcast},
          {"pairs", p.pairs},
          {"barriers", p.barriers},
          {"milliseconds", p.milliseconds},
          {"barrier_seconds", p.barrier_seconds},
          {"passes", p.passes},
          {"hosts", p.where.hosts},
          {"agent", p.where.agent},
          {"relay_host", p.where.relay_host}};
}

plan plan_of(const json& o) {
  plan p;
  p.quick = o.at("quick");
  for (auto [to, name] : {std::pair{&p.networks, "networks"}, std::pair{&p.where.hosts, "hosts"}})
    *to = o.at(name).get<std::vector<std::string>>();
  for (auto [to, name] :
       {std::pair{&p.ranks, "ranks"}, std::pair{&p.broadcast_ranks, "broadcast_ranks"},
        std::pair{&p.bytes.latency, "latency"}, std::pair{&p.bytes.throughput, "throughput"},
        std::pair{&p.bytes.broadcast, "broadcast"}, std::pair{&p.pairs, "pairs"}})
    *to = o.at(name).get<std::vector<int>>();
  for (auto [to, name] :
       {std::pair{&p.barriers, "barriers"}, std::pair{&p.milliseconds, "milliseconds"},
        std::pair{&p.barrier_seconds, "barrier_seconds"}, std::pair{&p.passes, "passes"}}) {
    *to = o.at(name);
    if (*to < 0) throw std::runtime_error(std::string("\"") + name + "\": " + o.at(name).dump());
  }
  for (const auto& name : p.networks)
    if (std::find(all_networks.begin(), all_networks.end(), name) == all_networks.end())
      throw std::runtime_error("\"networks\": " + name);
  p.where.agent = o.at("agent"), p.where.relay_host = o.at("relay_host");
  return p;
}

json json_of(const cell& c) {
  json o{{"network", c.network}, {"what", c.what}, {"ranks", c.ranks}};
  if (!c.algorithm.empty()) o["algorithm"] = c.algorithm;
  if (c.pairs > 0) o["pairs"] = c.pairs;
  if (c.bytes > 0) o["bytes"] = c.bytes;
  o["counts"] = c.counts;
  o["seconds"] = c.seconds, o["low"] = c.low, o["high"] = c.high;
  return o;
}

cell cell_of(const json& o) {
  cell c;
  c.network = o.at("network"), c.what = o.at("what"), c.ranks = o.at("ranks");
  c.algorithm = o.value("algorithm", ""), c.pairs = o.value("pairs", 0);
  c.bytes = o.value("bytes", std::size_t{0});
  for (auto [to, name] : {std::pair{&c.counts, "counts"}, std::pair{&c.seconds, "seconds"},
                          std::pair{&c.low, "low"}, std::pair{&c.high, "high"}})
    *to = o.at(name).get<std::vector<double>>();
  return c;
}

std::vector<point> points(const measured& m, const std::string& network, const char* what) {
  std::vector<point> found;
  for (const cell& c : m.cells)
    if (c.network == network && c.what == what)
      found.push_back({static_cast<double>(c.bytes), median(c.seconds)});
  return found;
}

}  // namespace

bool cell::is_same(const cell& other) const {
  return network == other.network && what == other.what && algorithm == other.algorithm &&
         ranks == other.ranks && pairs == other.pairs && bytes == other.bytes;
}

const cell* measured::find(const cell& like) const { return find_same(cells, like); }

std::optional<double> measured::seconds(const cell& like) const {
  const cell* const found = find(like);
  if (found == nullptr) return {};
  return median(found->seconds);
}

std::optional<loggp> parameters(const measured& m, const std::string& network) {
  return fit(points(m, network, "send"), points(m, network, "half"), points(m, network, "stream"));
}

std::string to_json(const measured& m, bool indented) {
  json o = head_of("net", m, json_of(m.what));
  o["missing"] = m.missing;
  o["parameters"] = json::array();
  for (const auto& network : m.what.networks)
    if (const auto p = parameters(m, network))
      o["parameters"].push_back({{"network", network},
                                 {"L", p->latency},
                                 {"o", p->overhead},
                                 {"g", p->gap},
                                 {"G", p->gap_per_byte},
                                 {"error", p->error}});
  o["findings"] = json::array();
  for (const auto& f : findings_of(m))
    o["findings"].push_back(
        {{"paper", f.paper}, {"network", f.network}, {"here", f.here}, {"holds", f.in_words()}});
  o["failures"] = json::array();
  for (const auto& f : m.failures)
    o["failures"].push_back({{"network", f.network}, {"ranks", f.ranks}, {"reason", f.reason}});
  o["cells"] = json::array();
  for (const auto& c : m.cells) o["cells"].push_back(json_of(c));
  return in_text(o, indented);
}

measured read_measured(const std::string& file) {
  measured m;
  read_study(file, "net", m, [&m](const json& o) {
    m.what = plan_of(o.at("plan"));
    m.missing = o.at("missing").get<std::vector<std::string>>();
    for (const auto& f : o.at("failures"))
      m.failures.push_back({f.at("network"), f.at("ranks"), f.at("reason")});
    for (const auto& c : o.at("cells")) m.cells.push_back(cell_of(c));
  });
  return m;
}

std::string page(const measured& m) { return study::page(net_template, to_json(m)); }

}  // namespace study::networks
