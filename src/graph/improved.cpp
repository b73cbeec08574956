#include "graph/improved.hpp"

#include "graph/dependences.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cleave::detail {
namespace {

std::vector<std::uint32_t> ranks_now(const recorded_graph& g) {
  std::vector<std::uint32_t> ranks;
  for (const auto& s : g.subtasks) ranks.push_back(s.ran_on);
  return ranks;
}

/// The node where each datum is written last; `rank_of` says where a subtask runs.
template <class Rank>
std::vector<std::uint32_t> places(const recorded_graph& g, Rank rank_of) {
  constexpr std::uint32_t nowhere = recorded_graph::any_rank;
  std::vector<std::uint32_t> places(g.bytes.size(), nowhere);
  for (std::size_t i = 0; i < g.subtasks.size(); ++i)
    for (const auto& u : g.uses_of(i))
      if (u.mode != access_mode::in) places[u.datum] = rank_of(i);
  return places;
}

/// How long the node with most of it takes to send, or to take in, what another placement moves.
double time_to_move(const recorded_graph& g, const std::vector<std::uint32_t>& ranks,
                    const machine_model& on) {
  const auto before = places(g, [&](std::size_t i) { return g.subtasks[i].ran_on; });
  const auto after = places(g, [&](std::size_t i) { return ranks[i]; });
  std::vector<double> busy(on.nodes);
  for (std::size_t d = 0; d < before.size(); ++d) {
    if (before[d] == after[d]) continue;
    busy[before[d]] += on.messages.sending.of(g.bytes[d]);
    busy[after[d]] += on.messages.receiving.of(g.bytes[d]);
  }
  return *std::ranges::max_element(busy) + on.messages.transit.fixed;
}

}  // namespace

void keep_places(const recorded_graph& g, std::vector<std::uint32_t>& ranks, unsigned nodes) {
  struct overlap {
    double work;
    std::uint32_t part, rank;
  };
  std::vector<double> work(std::size_t{nodes} * nodes);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    work[ranks[i] * nodes + g.subtasks[i].ran_on] += g.subtasks[i].duration;
  std::vector<overlap> overlaps;
  for (std::uint32_t part = 0; part < nodes; ++part)
    for (std::uint32_t rank = 0; rank < nodes; ++rank)
      overlaps.push_back({work[part * nodes + rank], part, rank});
  std::ranges::sort(overlaps, [](const overlap& a, const overlap& b) {
    return std::tuple(b.work, a.part, a.rank) < std::tuple(a.work, b.part, b.rank);
  });
  std::vector<std::uint32_t> named(nodes, recorded_graph::any_rank);
  std::vector<bool> taken(nodes);
  for (const overlap& o : overlaps) {
    if (named[o.part] != recorded_graph::any_rank || taken[o.rank]) continue;
    named[o.part] = o.rank, taken[o.rank] = true;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (g.subtasks[i].asked == recorded_graph::any_rank) ranks[i] = named[ranks[i]];
}

improvement improved(const recorded_graph& g, const machine_model& on) {
  const dependences of(g);
  improvement best;
  best.ranks = ranks_now(g);
  best.before = best.after = simulated(g, of, on, best.ranks);
  for (auto ranks : {by_partition(g, on), in_order(g, on)}) {
    keep_places(g, ranks, on.nodes);
    const double time = simulated(g, of, on, ranks);
    if (time >= best.after) continue;
    best.after = time;
    best.moving = time_to_move(g, ranks, on);
    best.ranks = std::move(ranks);
  }
  return best;
}

}  // namespace cleave::detail
