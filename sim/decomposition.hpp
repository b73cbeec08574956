#pragma once

#include "sim/scale.hpp"

/// The graph of `lu N --graph` at several sites.
namespace sim {

struct decomposition_run {
  layout where;
  int rows = 0;        ///< of the matrix
  int block = 0;       ///< rows of a block
  double seconds = 1;  ///< what one worker takes for all
};

struct decomposition_result {
  double seconds = 0;
  double speedup = 0;
  std::size_t subtasks = 0;
  double megabytes = 0;  ///< what all links between sites carry
};

/// Subtasks, what they read and write, and the nodes where they run are those of
/// apps/lu/blocks.hpp. How long they take follows from how much they compute. A node begins the
/// earliest subtask first; whoever has computed a block sends it to each node that reads it. In
/// each direction a site's link to the first site carries one message after the other. Throws
/// std::invalid_argument if nodes would not have the same number of workers.
decomposition_result run_decomposition(const decomposition_run& run);

}  // namespace sim
