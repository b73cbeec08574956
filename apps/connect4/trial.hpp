#pragma once

#include <optional>

#include "../common/trial.hpp"
#include "visit.hpp"

namespace apps::connect4 {

// A position that may still be won, with at least one empty square.
trial trial_of(position p, limits l, std::optional<int> expected_score = std::nullopt);

}  // namespace apps::connect4
