#pragma once

#include <string>

#include "../common/trial.hpp"
#include "melt.hpp"

namespace apps::md {

// A trial of `steps` steps, which tells the state after each `every`. There are at most `blocks`
// blocks in each direction. `plan`: a file for team_graph, or nothing.
trial trial_of(melt m, int steps, int every, int blocks, const std::string& plan = {});

}  // namespace apps::md
