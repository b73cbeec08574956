#pragma once

#include "../common/trial.hpp"

namespace apps::fib {

trial trial_of(int n);

}  // namespace apps::fib
