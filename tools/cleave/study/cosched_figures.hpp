// The goals of co-scheduling, and what was measured of each.
#pragma once

#include <string>
#include <vector>

#include "cosched_data.hpp"

namespace study::sharing {

struct figure {
  std::string goal;  // what it is a ratio of
  std::string jobs;  // "3 x cg"
  std::string mode;
  double limit = 1;
  bool at_most = true;  // else at least
  // The median of the passes, and the ends. A pass compares runs of its own only.
  double measured = 0, least = 0, most = 0;

  bool met() const { return at_most ? measured <= limit : measured >= limit; }
};

// The figures that there are runs for.
std::vector<figure> figures_of(const measured& m);

}  // namespace study::sharing
