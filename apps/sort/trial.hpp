#pragma once

#include "../common/trial.hpp"

namespace apps::sort {

trial trial_of(int n);

}  // namespace apps::sort
