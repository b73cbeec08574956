#pragma once

#include "../common/trial.hpp"

namespace apps::compare {

trial trial_of(int n);

}  // namespace apps::compare
