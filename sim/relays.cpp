#include "sim/relays.hpp"

#include <algorithm>

namespace sim {
namespace {

constexpr unsigned nobody = ~0U;

}  // namespace

void relays::add(unsigned number, unsigned site) {
  site_[number] = site;
  server& s = servers_[site];
  s.as_child.number = site;
  // The first node has the root task from the start.
  s.nodes.push_back({number, number == 0 ? 1 : 0, 0});
}

relays::child& relays::node(unsigned number) {
  auto& nodes = servers_.at(site_.at(number)).nodes;
  return *std::find_if(nodes.begin(), nodes.end(),
                       [&](const child& c) { return c.number == number; });
}

void relays::passes(unsigned from, unsigned to, const net::message& m) {
  const bool crosses = site_.at(from) != site_.at(to);
  if (const auto* t = std::get_if<net::task>(&m.body)) {
    child& c = node(to);
    ++c.tasks;
    c.depth = t->depth;
    if (!crosses) return;
    child& s = servers_.at(site_.at(to)).as_child;
    ++s.tasks;
    s.depth = t->depth;
  } else if (std::holds_alternative<net::task_result>(m.body)) {
    --node(from).tasks;
    if (crosses) --servers_.at(site_.at(from)).as_child.tasks;
  }
}

std::optional<unsigned> relays::pick(const std::vector<child>& among, unsigned but) {
  std::vector<child> able;
  for (const child& c : among) {
    if (c.number != but && c.tasks > 0) able.push_back(c);
  }
  if (able.empty()) return std::nullopt;
  if (how_ == choice::random) return able[random_.below(able.size())].number;
  return std::min_element(able.begin(), able.end(),
                          [](const child& a, const child& b) { return a.depth < b.depth; })
      ->number;
}

std::optional<unsigned> relays::down(unsigned site, unsigned but) {
  return pick(servers_.at(site).nodes, but);
}

std::optional<unsigned> relays::route(unsigned from) {
  const unsigned site = site_.at(from), root = servers_.begin()->first;
  const auto& nodes = servers_.at(site).nodes;
  // A request goes up with probability 1/(n + 1), and when nobody below is known to have anything.
  if (site != root) {
    const bool up = random_.below(nodes.size() + 1) == 0;
    if (const auto below = up ? std::nullopt : down(site, from)) return below;
  }
  constexpr unsigned site_mark = 1U << 31;
  std::vector<child> among = servers_.at(root).nodes;
  for (const auto& [other, s] : servers_) {
    if (other == root || other == site) continue;
    child c = s.as_child;
    c.number |= site_mark;
    among.push_back(c);
  }
  const auto to = pick(among, from);
  if (!to || (*to & site_mark) == 0) return to;
  return down(*to & ~site_mark, nobody);
}

}  // namespace sim
