#pragma once

#include "../common/trial.hpp"
#include "graph.hpp"

namespace apps::clique {

// `known` is the size of the largest clique, or -1; only larger cliques than `bound` are looked
// for.
trial trial_of(graph given, int known, int bound);

}  // namespace apps::clique
