#pragma once

#include <cstdint>
#include <optional>

#include "../common/trial.hpp"
#include "collection.hpp"
#include "instance.hpp"

namespace apps::tsp {

// Looks for a shortest tour; if `start_from` is given, for one that is shorter than this.
trial trial_of(instance given, std::optional<length_t> start_from, bool print_tour);

// How workers collect tours.
enum class organisation : std::uint8_t {
  together,   // there is one collection, in the memory of this machine
  apart,      // each has its own, and knows nothing of others, but that one has all
  sharing,    // each has its own, and tells others, on other machines too
  gathering,  // they have one, which changes on all machines
  master      // one of them has the collection, and the others tell that one
};

// Collects different tours by a random descent. `when` is for those who tell others.
trial trial_of_collecting(instance given, const wanted_tours& wanted, organisation how,
                          sending when = sending::one);

}  // namespace apps::tsp
