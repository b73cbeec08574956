#pragma once

#include "../common/trial.hpp"

namespace apps::gravity {

trial trial_of(int n);

}  // namespace apps::gravity
