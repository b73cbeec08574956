#include "trial.hpp"

#include <memory>

#include "../common/measure.hpp"
#include "clique.hpp"
#include "report.hpp"
#include "sequential.hpp"

namespace apps::clique {

trial trial_of(graph given, int known, int bound) {
  auto g = std::make_shared<const graph>(std::move(given));
  return make_trial([=] { return sequential::maximum_clique(*g, bound); },
                    [=] { return parallel::maximum_clique(*g, bound); },
                    [=](const auto& found) { return report(*g, known, bound, found); });
}

}  // namespace apps::clique
