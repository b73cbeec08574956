#pragma once

#include "graph/recorded_graph.hpp"

#include <cstdint>
#include <vector>

/// Which node is to run which subtask of a graph that has been recorded. Nothing here runs
/// anything; all nodes would come to the same, but one decides and tells the others.
namespace cleave::detail {

class dependences;

/// The ways between nodes, where they are not alike.
class network {
public:
  /// When a message is there that leaves node `from` at a time: in microseconds. Calls come nearly
  /// in the order of that time.
  virtual double arrives(unsigned from, unsigned to, double bytes, double at) = 0;

protected:
  ~network() = default;
};

/// The machine that a graph is to run on.
struct machine_model {
  unsigned nodes = 1, workers = 1;  // nodes, and workers on each
  message_costs messages;
  network* between = nullptr;  // for simulated(), in the place of messages.transit; null: none
};

struct schedule {
  enum class method : std::uint8_t {
    as_recorded,    // where each subtask ran when it was recorded
    critical_path,  // the longest path that is left decides
    partition,      // each datum's writers on one node: parts of much affinity
    in_order        // the same: parts of what follows each other in the program
  };
  std::vector<std::uint32_t> ranks;  // the node of each subtask
  double time = 0;                   // how long it takes in the model
  method by = method::as_recorded;
};

/// The model is wrong by about this part of a time.
inline constexpr double model_error = 0.03;

/// How long a graph takes with these ranks: a worker that is free takes out the first message that
/// has come, else begins the first subtask, in program order, that can begin. A value goes once to
/// each node that reads it, and what a subtask has for one node is one message. `of` are the
/// graph's dependences, which take long to find: who tries several ranks finds them once.
double simulated(const recorded_graph& g, const dependences& of, const machine_model& on,
                 const std::vector<std::uint32_t>& ranks);
double simulated(const recorded_graph& g, const machine_model& on,
                 const std::vector<std::uint32_t>& ranks);

/// The longest path of subtasks that depend on each other.
double critical_path(const recorded_graph& g);

/// CP/MISF (critical path, most immediate successors first) with the time of communication: the
/// subtask with the longest path behind it is next, of equal ones that with more successors; it
/// goes to the node where it ends first. (Kasahara and Narita, "Practical multiprocessor scheduling
/// algorithms", 1984; Parsley, section 3.3.)
std::vector<std::uint32_t> by_critical_path(const recorded_graph& g, const dependences& of,
                                            const machine_model& on);

/// All subtasks with the same home on one node. Homes are parted so that nodes have equal work and
/// few bytes go from one to another: halved again and again, each half grown around one datum and
/// then improved. (Kernighan and Lin, 1970; Fiduccia and Mattheyses, 1982.)
std::vector<std::uint32_t> by_partition(const recorded_graph& g, const machine_model& on);

/// All subtasks with the same home on one node. Homes are parted in the order in which the program
/// made them, so that no node has more work than it must: of the cells of a grid they are slabs.
std::vector<std::uint32_t> in_order(const recorded_graph& g, const machine_model& on);

/// The schedule, on all nodes or on fewer, that the model says is the fastest of those above. What
/// was recorded on as many nodes stays, unless another one is faster by more than the model may be
/// wrong. The subtasks of a rank of an MPI program stay together, and further nodes stay empty.
schedule best_schedule(const recorded_graph& g, const machine_model& on);

}  // namespace cleave::detail
