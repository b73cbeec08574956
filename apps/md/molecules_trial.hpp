#pragma once

#include <string>

#include "../common/trial.hpp"
#include "../lammps/system.hpp"

namespace apps::md {

// As trial_of() (trial.hpp), of molecules.
trial molecules_trial_of(lammps::system s, int steps, int every, int blocks,
                         const std::string& plan = {});

}  // namespace apps::md
