#pragma once

#include "../common/blocking.hpp"
#include "../common/trial.hpp"

namespace apps::cholesky {

trial trial_of(int n, const blocking& how = {});

}  // namespace apps::cholesky
