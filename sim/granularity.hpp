#pragma once

#include <cstdint>

/// How long subtasks must be over many ranks (METG of Task Bench), from costs that were measured
/// over two.
namespace sim {

/// In microseconds, of a worker.
struct granularity_costs {
  double subtask = 0.23;   ///< to make, begin and end one that runs here
  double foreign = 0.08;   ///< to make one that runs elsewhere
  double sending = 0.9;    ///< a value
  double receiving = 1.7;  ///< a value
  double transit = 1.5;
};

struct granularity_run {
  unsigned ranks = 2;
  int columns = 8;  ///< of each rank
  int steps = 50;
  bool mine = true;     ///< each rank makes what concerns it; else all make all
  double spread = 0.1;  ///< subtasks last up to so much longer or shorter, at random
  std::uint64_t seed = 1;
  granularity_costs costs;
};

/// Microseconds of a worker for each subtask where it computes for half of them, in a stencil of
/// three columns: each rank has one worker and neighbouring columns, and makes the graph while it
/// computes.
double least_granularity(const granularity_run& run);

}  // namespace sim
