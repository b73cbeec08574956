#pragma once

#include <cstdint>
#include <vector>

#include "graph/dependences.hpp"

/// Schedules in which all subtasks with the same home are on one node.
namespace cleave::detail {

/// How long the subtasks of each home take; of one whose datum decides for none, 0.
inline std::vector<double> work_of_homes(const recorded_graph& g) {
  std::vector<double> work(g.bytes.size());
  for (std::size_t i = 0; i < g.subtasks.size(); ++i)
    if (const auto* const u = deciding(g.uses_of(i))) work[u->datum] += g.subtasks[i].duration;
  return work;
}

/// The node of each subtask, if `rank_of` is that of each home.
inline std::vector<std::uint32_t> ranks_by_home(const recorded_graph& g, unsigned nodes,
                                                const std::vector<std::uint32_t>& rank_of) {
  std::vector<std::uint32_t> ranks;
  std::uint32_t placeless = 0;
  for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
    const std::uint32_t asked = asked_rank(g, i, nodes);
    const auto* const decides = deciding(g.uses_of(i));
    ranks.push_back(asked != none        ? asked
                    : decides == nullptr ? placeless++ % nodes
                                         : rank_of[decides->datum]);
  }
  return ranks;
}

}  // namespace cleave::detail
