#pragma once

#include "../common/trial.hpp"

namespace apps::queens {

trial trial_of(int n);

}  // namespace apps::queens
