#pragma once

#include <cstdint>
#include <vector>

#include "graph/recorded_graph.hpp"
#include "graph/schedule.hpp"

namespace cleave::detail {

/// What a graph that runs would gain by other nodes for its subtasks. Times are in microseconds.
struct improvement {
  std::vector<std::uint32_t> ranks;  // of each subtask of the last steps
  double before = 0, after = 0;      // how long the last steps take in the model, and would take
  double moving = 0;                 // how long one node takes for the values that change nodes
};

/// Looks for better nodes for the subtasks of some steps, which ran where `ran_on` says.
improvement improved(const recorded_graph& last_steps, const machine_model& on);

/// Names the parts of a placement anew, so that little has to move: each part gets the rank that
/// has had most of its work, heavy parts first.
void keep_places(const recorded_graph& g, std::vector<std::uint32_t>& ranks, unsigned nodes);

}  // namespace cleave::detail
