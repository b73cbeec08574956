#pragma once

#include <optional>

#include "../common/trial.hpp"
#include "instance.hpp"

namespace apps::tsp {

// Looks for a shortest tour; if `start_from` is given, for one that is shorter than this.
trial trial_of(instance given, std::optional<length_t> start_from, bool print_tour);

}  // namespace apps::tsp
