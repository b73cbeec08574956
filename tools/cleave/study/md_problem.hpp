// What all simulations of a recorded graph of `md` have in common.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/dependences.hpp"
#include "md_simulated.hpp"

namespace study::dynamics {

// What is to run where. Without subtasks that add, each vertex is a subtask.
struct problem {
  problem(const cleave::detail::recorded_graph& graph, const cleave::detail::message_costs& costs,
          const std::vector<std::uint32_t>& on, unsigned count)
      : g(graph), d(graph), messages(costs), node_of(on), nodes(count) {}

  const cleave::detail::recorded_graph& g;
  const cleave::detail::dependences d;
  const cleave::detail::message_costs& messages;
  const std::vector<std::uint32_t>& node_of;  // of each subtask
  unsigned nodes;

  // Whether the end of `from` is told to another node.
  bool crosses(const cleave::detail::dependences::edge& e) const {
    return node_of[e.from] != node_of[e.to] && !e.only_here;
  }
  bool is_here(const cleave::detail::dependences::edge& e) const {
    return node_of[e.from] == node_of[e.to];
  }
};

// Notes what nodes do.
class node_log {
public:
  explicit node_log(unsigned nodes) { run_.nodes.resize(nodes); }
  void computes(std::uint32_t node, int what, double begin, double end) {
    run_.nodes[node].computing += end - begin;
    run_.spans.push_back({node, what, begin, end});
  }
  void tells(std::uint32_t node, double begin, double end) {
    run_.nodes[node].communicating += end - begin;
    run_.spans.push_back({node, span_of_node::telling, begin, end});
  }
  simulated_run ended(double at) {
    run_.time = at;
    for (node_times& n : run_.nodes) n.waiting = at - n.computing - n.communicating;
    return std::move(run_);
  }

private:
  simulated_run run_;
};

}  // namespace study::dynamics
