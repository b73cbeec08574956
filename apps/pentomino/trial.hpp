#pragma once

#include <optional>

#include "../common/trial.hpp"
#include "puzzle.hpp"
#include "solutions.hpp"

namespace apps::pentomino {

trial trial_of(puzzle problem, std::optional<solutions> expected);
// 6 x 10 with the twelve pentominoes.
trial default_trial();

}  // namespace apps::pentomino
