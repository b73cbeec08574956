#pragma once

#include "../common/blocking.hpp"
#include "../common/trial.hpp"

namespace apps::lu {

trial trial_of(int n);
// As a graph of blocks.
trial trial_by_blocks(int n, const blocking& how);

}  // namespace apps::lu
