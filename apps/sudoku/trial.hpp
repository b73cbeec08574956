#pragma once

#include "../common/trial.hpp"
#include "result.hpp"

namespace apps::sudoku {

trial trial_of(puzzles given, question asked);

}  // namespace apps::sudoku
