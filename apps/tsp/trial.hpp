#pragma once

#include <optional>

#include "../common/trial.hpp"
#include "collection.hpp"
#include "instance.hpp"

namespace apps::tsp {

// Looks for a shortest tour; if `start_from` is given, for one that is shorter than this.
trial trial_of(instance given, std::optional<length_t> start_from, bool print_tour);

// Collects different tours by a random descent. Workers know what others have found, unless they
// are `apart`.
trial trial_of_collecting(instance given, const wanted_tours& wanted, bool apart);

}  // namespace apps::tsp
