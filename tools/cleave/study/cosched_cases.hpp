// Which jobs the experiment runs side by side, and under which ways to share.
#pragma once

#include <string>
#include <vector>

#include "cosched_data.hpp"

namespace study::sharing {

struct choice {
  std::vector<std::string> parts;  // empty: all
  std::vector<std::string> ways;   // empty: all; plain is always there: fair shares are of it
  bool quick = false;
  bool figures = false;  // only what figures_of() needs
  int ranks = 0;         // each job has so many, a power of two; 0: as many as CPUs, rounded down
};

extern const std::vector<std::string> all_parts, all_ways;

// The two kernels. Their length is not known yet: job::expected is 0.
struct kernels {
  job cg, ft;
  int fill;  // the ranks that fill the machine
  kernels(bool quick, int ranks);
};
// Makes a job take about `seconds` alone; `once`: what it takes as it is.
void make_last(job& j, double once, double seconds);

// A job of bsp. `fill`: the ranks that fill the machine.
job bsp(int grain, int imbalance, int ranks, int fill, double seconds);

struct cases {
  std::vector<cell> cells;
  std::vector<std::size_t> pass;  // the cells of one pass, in order; some are run twice
};
// The cells of a choice. Throws apps::usage_error for a name that is none.
cases cases_of(const choice& what, const std::string& mpi, const kernels& k, double seconds);

// How long the last of these jobs runs, if each has its fair share.
double fair_end(const cell& c);

}  // namespace study::sharing
