#pragma once

#include "../common/trial.hpp"

namespace apps::matmul {

trial trial_of(int n);

}  // namespace apps::matmul
