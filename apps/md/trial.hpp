#pragma once

#include <string>

#include "../common/trial.hpp"
#include "melt.hpp"

namespace apps::md {

// So many steps; what is known of it after each `every`. At most so many blocks in each direction.
// `plan`: a file for team_graph, or nothing.
trial trial_of(melt m, int steps, int every, int blocks, const std::string& plan = {});

}  // namespace apps::md
