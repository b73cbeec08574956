#pragma once

#include "../common/trial.hpp"

namespace apps::lu {

trial trial_of(int n);

}  // namespace apps::lu
