#pragma once

#include <memory>

#include "../common/trial.hpp"
#include "clique.hpp"
#include "report.hpp"
#include "sequential.hpp"

namespace apps::clique {

// `known` is the size of the largest clique, or -1; only larger cliques than `bound` are looked for.
inline trial trial_of(graph given, int known, int bound) {
  auto g = std::make_shared<const graph>(std::move(given));
  return make_trial([=] { return sequential::maximum_clique(*g, bound); },
                    [=] { return parallel::maximum_clique(*g, bound); },
                    [=](const auto& found) { return report(*g, known, bound, found); });
}

}  // namespace apps::clique
