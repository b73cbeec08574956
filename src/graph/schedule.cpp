#include "graph/schedule.hpp"

#include "graph/dependences.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cleave::detail {

schedule best_schedule(const recorded_graph& g, const machine_model& on) {
  schedule best;
  const dependences of(g);
  if (g.of_ranks) {
    // Neighbouring ranks share a node where there are fewer nodes.
    const std::uint64_t nodes = std::min(on.nodes, g.nodes);
    for (const auto& s : g.subtasks)
      best.ranks.push_back(static_cast<std::uint32_t>(s.ran_on * nodes / g.nodes));
    best.time = simulated(g, of, on, best.ranks);
    return best;
  }
  best.time = std::numeric_limits<double>::max();
  double to_beat = best.time;
  const auto consider = [&](schedule::method by, std::vector<std::uint32_t> ranks) {
    const double time = simulated(g, of, on, ranks);
    if (time >= to_beat) return;
    best = {std::move(ranks), time, by};
    // What ran is known; of what did not run the model may be wrong.
    to_beat = by == schedule::method::as_recorded ? time * (1 - model_error) : time;
  };
  if (on.nodes == g.nodes) {
    std::vector<std::uint32_t> ranks;
    for (const auto& s : g.subtasks) ranks.push_back(s.ran_on);
    consider(schedule::method::as_recorded, std::move(ranks));
  }
  // Fewer nodes are tried, too: messages can cost more than further nodes help.
  for (machine_model some = on; some.nodes > 0; some.nodes /= 2) {
    consider(schedule::method::partition, by_partition(g, some));
    consider(schedule::method::in_order, in_order(g, some));
  }
  consider(schedule::method::critical_path, by_critical_path(g, of, on));
  return best;
}

}  // namespace cleave::detail
