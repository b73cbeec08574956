// This file simulates a run by dependences.
#pragma once

#include "md_problem.hpp"

namespace study::dynamics {

// `lends`: nodes that have nothing to begin are lent what is ready elsewhere.
simulated_run run_by_dependences(const problem& p, bool lends);

}  // namespace study::dynamics
