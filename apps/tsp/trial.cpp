#include "trial.hpp"

#include <memory>
#include <tuple>
#include <utility>

#include "../common/measure.hpp"
#include "collect.hpp"
#include "gather.hpp"
#include "master.hpp"
#include "report.hpp"
#include "sequential.hpp"
#include "share.hpp"
#include "tsp.hpp"

namespace apps::tsp {
namespace {

struct mastering {
  cleave::published<instance> cities;
  wanted_tours wanted;
  sharing how;
  auto input() { return std::tie(cities, wanted, how); }
  team_result<collected> run(cleave::team& all) const {
    auto [cost, found] =
        timed([&] { return parallel::collect_by_master(*cities, wanted, how, all); });
    return {cost, std::move(found)};
  }
};

}  // namespace

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
    if (how == organisation::together)
      return told(timed(*workers, [=] { return parallel::collect_together(*cities, wanted); }));
    const sharing shared{how == organisation::apart ? sending::never : when,
                         static_cast<int>(workers->job().workers)};
    if (how == organisation::master) {
      const auto report_on = [&](const collected& found) { return report(*cities, wanted, found); };
      return make_team_trial([] { return collected{}; }, mastering{cities, wanted, shared},
                             report_on)(workers);
    }
    if (how == organisation::gathering)
      return told(
          timed(*workers, [=] { return parallel::collect_gathering(cities, wanted, shared); }));
    return told(timed(*workers, [=] { return parallel::collect_sharing(cities, wanted, shared); }));
  };
}

}  // namespace apps::tsp
