#pragma once

#include "../common/trial.hpp"
#include "../lammps/system.hpp"
#include "run_options.hpp"

namespace apps::md {

trial molecules_trial_of(lammps::system s, const run_options& how);

}  // namespace apps::md
