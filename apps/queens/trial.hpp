#pragma once

#include "../common/trial.hpp"

namespace apps::queens {

trial trial_of(int n);

// The columns of the first row are dealt to so many nodes; then the search is divided on request.
trial trial_of_dealing(int n, int nodes);

}  // namespace apps::queens
