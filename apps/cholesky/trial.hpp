#pragma once

#include "../common/trial.hpp"

namespace apps::cholesky {

trial trial_of(int n);

}  // namespace apps::cholesky
