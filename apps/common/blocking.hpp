// How a decomposition by blocks is divided.
#pragma once

#include <string>
#include <tuple>

namespace apps {

class driver;

struct blocking {
  int rows = 0;           // of a block, a multiple of tile_size; 0: as many as suit the matrix
  std::string plan = {};  // a file for team_graph, or nothing
  auto fields() { return std::tie(rows, plan); }
};

// The options --block and --plan.
void add_blocking_options(driver& app, blocking& how);
// Called when the command line has been read. Throws usage_error.
void require_good(const blocking& how);

}  // namespace apps
