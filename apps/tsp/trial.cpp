#include "trial.hpp"

#include <memory>
#include <utility>

#include "../common/measure.hpp"
#include "collect.hpp"
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

trial trial_of_collecting(instance given, const wanted_tours& wanted, bool apart) {
  const auto cities = std::make_shared<const instance>(std::move(given));
  return [=](cleave::runtime* workers) {
    const int searchers = workers != nullptr && apart ? workers->workers() : 1;
    const auto together = [=] { return parallel::collect_together(*cities, wanted); };
    const auto apart_from_others = [=] {
      return parallel::collect_apart(*cities, wanted, searchers);
    };
    const auto [cost, found] = workers == nullptr
                                   ? timed([=] { return sequential::collect(*cities, wanted); })
                               : apart ? timed(*workers, apart_from_others)
                                       : timed(*workers, together);
    return outcome{cost, report(*cities, wanted, found)};
  };
}

}  // namespace apps::tsp
