#pragma once

#include "../common/trial.hpp"
#include "melt.hpp"
#include "run_options.hpp"

namespace apps::md {

trial trial_of(melt m, const run_options& how);

}  // namespace apps::md
