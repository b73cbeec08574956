#pragma once

#include "../common/trial.hpp"
#include "tree.hpp"

namespace apps::uts {

trial trial_of(const sample& chosen);

}  // namespace apps::uts
