#include "trial.hpp"

#include <memory>
#include <utility>

#include "../common/measure.hpp"
#include "collect.hpp"
#include "report.hpp"
#include "sequential.hpp"
#include "share.hpp"
#include "tsp.hpp"

namespace apps::tsp {

trial trial_of(instance given, std::optional<length_t> start_from, bool print_tour) {
  const auto cities = std::make_shared<const instance>(std::move(given));
  return make_trial([=] { return sequential::shortest_tour(*cities, start_from); },
                    [=] { return parallel::shortest_tour(*cities, start_from); },
                    [=](const result& found) { return report(*cities, print_tour, found); });
}

trial trial_of_collecting(instance given, const wanted_tours& wanted, organisation how,
                          sending when) {
  const cleave::published<instance> cities(std::move(given));
  return [=](cleave::runtime* workers) {
    const auto told = [&](const auto& run) {
      return outcome{run.first, report(*cities, wanted, run.second)};
    };
    if (workers == nullptr)
      return told(timed([=] { return sequential::collect(*cities, wanted); }));
    switch (how) {
      case organisation::together:
        return told(timed(*workers, [=] { return parallel::collect_together(*cities, wanted); }));
      case organisation::apart:
        return told(timed(*workers, [=, searchers = workers->workers()] {
          return parallel::collect_apart(*cities, wanted, searchers);
        }));
      case organisation::sharing: break;
    }
    const sharing shared{when, static_cast<int>(workers->job().workers)};
    return told(timed(*workers, [=] { return parallel::collect_sharing(cities, wanted, shared); }));
  };
}

}  // namespace apps::tsp
