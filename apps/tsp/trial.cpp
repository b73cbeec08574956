#include "trial.hpp"

#include <memory>
#include <utility>

#include "../common/measure.hpp"
#include "report.hpp"
#include "sequential.hpp"
#include "tsp.hpp"

namespace apps::tsp {

trial trial_of(instance given, std::optional<length_t> start_from, bool print_tour) {
  const auto cities = std::make_shared<const instance>(std::move(given));
  return make_trial([=] { return sequential::shortest_tour(*cities, start_from); },
                    [=] { return parallel::shortest_tour(*cities, start_from); },
                    [=](const result& found) { return report(*cities, print_tour, found); });
}

}  // namespace apps::tsp
