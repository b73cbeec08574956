// How long the recorded graph of `md` takes on more nodes than there are here, in two ways: by
// dependences, and in bulk-synchronous steps. A node has one worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/recorded_graph.hpp"

namespace study::dynamics {

// What a subtask tells a node is one message.
enum class way : std::uint8_t {
  dependences,  // a subtask begins when what it reads is there
  synchronous,  // all compute, then send all, then receive all; after each phase is a barrier
  // The best bulk-synchronous program: there is no barrier, a node waits for what it is to receive
  // alone, and what goes from one node to another in a phase is one message.
  loose,
  // By dependences, too; where subtasks run (the paper's table 1):
  dynamic,       // blocks are dealt in slabs, and idle nodes are lent what is ready
  initial_plan,  // a plan for which all subtasks are equally long
  improved_plan  // a plan by how long they were
};

inline constexpr way all_ways[] = {way::dependences, way::synchronous,  way::loose,
                                   way::dynamic,     way::initial_plan, way::improved_plan};

// Whether a plan says where subtasks run.
inline bool has_plan(way by) { return by == way::initial_plan || by == way::improved_plan; }
// Whether the way differs from `dependences` in where subtasks run, which needs several nodes.
inline bool allocates(way by) { return by == way::dynamic || has_plan(by); }

// The block that each subtask is of. Blocks are numbered by the subtasks named `begin`, each of
// which makes one; what is of no block, as a sum over all of them, goes with the first.
struct blocks_of_graph {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> of;  // by subtask
};
// Throws std::runtime_error if the graph is none of `md`.
blocks_of_graph blocks_of(const cleave::detail::recorded_graph& g);

// The node of each subtask if blocks are dealt in slabs, as `md` deals them.
std::vector<std::uint32_t> slabs(const blocks_of_graph& blocks, unsigned nodes);

// The graph that the plan of a way is made of.
cleave::detail::recorded_graph graph_of_plan(const cleave::detail::recorded_graph& g, way by);

// The node of each subtask, as it is dealt or as the plan says.
std::vector<std::uint32_t> nodes_of_subtasks(const cleave::detail::recorded_graph& g, way by,
                                             unsigned nodes);

// The phase of each subtask, from 0: a phase ends before a subtask that reads what a subtask of
// another block has written in it.
std::vector<std::uint32_t> phases_of(const cleave::detail::recorded_graph& g,
                                     const blocks_of_graph& blocks);

// What a node does at a time, in microseconds from the beginning.
struct span_of_node {
  static constexpr int telling = -1;
  std::uint32_t node = 0;
  int what = telling;  // an index into the graph's names; telling: it sends or receives
  double begin = 0, end = 0;
};

// Microseconds of one node.
struct node_times {
  double computing = 0, communicating = 0, waiting = 0;
};

struct simulated_run {
  double time = 0;  // microseconds
  std::vector<node_times> nodes;
  std::vector<span_of_node> spans;
};

// `dependences` takes as long as cleave::detail::simulated() says. Throws std::runtime_error if a
// subtask of the graph adds to a datum: none of `md` does.
simulated_run simulate(const cleave::detail::recorded_graph& g,
                       const cleave::detail::message_costs& messages,
                       const std::vector<std::uint32_t>& nodes_of_subtasks, unsigned nodes, way by);

}  // namespace study::dynamics
