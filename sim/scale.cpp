#include "sim/scale.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sim/relays.hpp"

namespace sim {

std::vector<place> nodes_of(const layout& l) {
  std::vector<place> nodes;
  const bool many = l.what == layout::kind::many;
  const bool three = l.what == layout::kind::three;
  const bool one = l.what == layout::kind::one;
  const unsigned usual = many ? 16 : one ? 1 : 8, sites = many ? 64 : three ? 3 : one ? 1 : 4;
  const unsigned most = l.node_workers != 0 ? l.node_workers : usual;
  for (unsigned site = 0; site < sites; ++site) {
    unsigned left = (l.workers + sites - 1 - site) / sites;
    if (l.what == layout::kind::grown)
      left = std::min(64U, l.workers - std::min(l.workers, 64 * site));
    for (; left > 0; left -= std::min(left, most)) nodes.push_back({site, std::min(left, most)});
  }
  return nodes;
}

connection to_hub(const layout& l, unsigned site) {
  // Table 2: chiba itself, kobe, keio, kyushu.
  static constexpr connection paper[] = {{0, 0}, {17.7, 570}, {7.77, 94.5}, {26.7, 113}};
  static constexpr connection measured[] = {{0, 0}, {17.7, 100}, {26.7, 100}};
  if (l.what == layout::kind::three) return measured[site];
  if (l.what != layout::kind::many) return paper[site];
  return site == 0 ? connection{} : connection{5 + (site * 37 % 64) * 25.0 / 64, 100};
}

namespace {

link between(const layout& l, unsigned a, unsigned b) {
  // Within a site a message takes the time of a switch, and the relay's own.
  constexpr instant inside{100};
  if (a == b) return {inside, 1000};
  const connection x = to_hub(l, a), y = to_hub(l, b);
  const double slower = x.megabits == 0   ? y.megabits
                        : y.megabits == 0 ? x.megabits
                                          : std::min(x.megabits, y.megabits);
  return {inside + instant(static_cast<std::int64_t>(500 * (x.round_trip + y.round_trip))), slower};
}

/// Plans the kills: each time another node is killed, at random but for the seed. Its successor, at
/// a new address, is there some time later.
void add_kills(std::vector<happening>& happenings, std::vector<place>& nodes, const scale_run& run,
               instant until) {
  net::random_numbers random(run.seed);
  const instant back = run.back_after.count() != 0 ? run.back_after : run.killed_every / 10;
  std::vector<unsigned> alive;
  for (unsigned n = 1; n < nodes.size(); ++n) alive.push_back(n);
  for (instant at = run.killed_every; at < until; at += run.killed_every) {
    unsigned& victim = alive[random.below(alive.size())];
    const auto successor = static_cast<unsigned>(nodes.size());
    nodes.push_back(nodes[victim]);
    happenings.push_back({happening::kind::crash, at, victim, 0, {}, false});
    happenings.push_back({happening::kind::join, at + back, successor, 0, {}, false});
    victim = successor;
  }
}

}  // namespace

std::vector<std::string> asking_names() {
  std::vector<std::string> all(std::begin(server_names), std::end(server_names));
  for (const auto& [name, how] : net::strategy_names) all.emplace_back(name);
  return all;
}

asking read_asking(const std::string& text) {
  const auto* const at = std::find(std::begin(server_names), std::end(server_names), text);
  if (at == std::end(server_names)) return {.node = net::read_preference("--strategies", text)};
  return {{.how = net::strategy::relay},
          at == server_names ? relays::choice::random : relays::choice::least_split};
}

std::string to_string(const asking& a) {
  if (a.node.how != net::strategy::relay) return net::to_string(a.node);
  return std::string(server_names[a.servers == relays::choice::random ? 0 : 1]);
}

scale_result run_scale(const tree& work, const scale_run& run,
                       const std::function<void(instant now, std::uint64_t visited)>& progress) {
  std::vector<place> nodes = nodes_of(run.where);
  const std::size_t at_first = nodes.size();
  world_settings w;
  w.seed = run.seed;
  w.checks = false;
  w.progress = progress;
  w.core.exact = false;
  w.core.node_cost = run.node_cost;
  w.core.published = run.published;
  w.core.poll_every =
      run.poll_every.count() != 0 ? run.poll_every : std::min(run.node_cost, instant(100));
  w.protocol.follow(run.whom.node);
  w.site = [&nodes](net::address node) { return nodes[static_cast<std::size_t>(node)].site; };
  w.between = [l = run.where](unsigned a, unsigned b) { return between(l, a, b); };
  w.workers = [&nodes](unsigned node) { return nodes[node].workers; };
  relays servers(run.whom.servers, run.seed);
  if (w.protocol.whom == net::strategy::relay) w.servers = &servers;

  std::vector<happening> happenings;
  for (unsigned n = 0; n < nodes.size(); ++n)
    happenings.push_back({happening::kind::join, {}, n, 0, {}, false});
  const instant alone = static_cast<std::int64_t>(work.nodes()) * run.node_cost;
  const bool killed = run.killed_every.count() != 0 && nodes.size() > 1;
  if (killed) add_kills(happenings, nodes, run, 4 * alone);
  w.tells_losses = killed;
  w.told_after = run.told_after;
  const report r = world(work, w).run(happenings, 4 * alone);
  if (!r.violation.empty()) throw std::runtime_error("the simulation went wrong: " + r.violation);
  if (killed ? r.busy < alone : r.busy != alone) {
    throw std::runtime_error("the simulation went wrong: " + std::to_string(r.busy.count()) +
                             " us were computed instead of " + std::to_string(alone.count()));
  }

  scale_result out;
  out.run = run;
  out.seconds = static_cast<double>(r.ended.count()) * 1e-6;
  out.speedup = static_cast<double>(alone.count()) * 1e-6 / out.seconds;
  out.efficiency = out.speedup / run.where.workers;
  std::vector<unsigned> at;
  nodes.resize(at_first);
  for (const place& p : nodes) {
    if (at.size() <= p.site) at.resize(p.site + 1);
    at[p.site] += p.workers;
  }
  for (unsigned site = 0; site < at.size(); ++site) {
    const double busy = static_cast<double>(r.busy_at.at(site).count());
    out.busy.push_back(busy / static_cast<double>(r.ended.count()) / at[site]);
  }
  out.tasks = r.tasks, out.requests = r.requests, out.messages = r.messages;
  out.bytes = r.bytes, out.events = r.events;
  return out;
}

}  // namespace sim
