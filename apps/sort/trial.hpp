#pragma once

#include "../common/trial.hpp"

namespace apps::sort {

trial trial_of(int n);

// The numbers are dealt to so many nodes, which sort their parts and merge them, two by two.
trial trial_of_dealing(int n, int nodes);

// So many nodes have a part each, and sort all numbers among them by ranges.
trial trial_of_sampling(int n, int nodes);

}  // namespace apps::sort
