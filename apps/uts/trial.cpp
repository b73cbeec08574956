#include "trial.hpp"

#include <memory>

#include "../common/measure.hpp"
#include "sequential.hpp"
#include "uts.hpp"

namespace apps::uts {

trial trial_of(const sample& chosen) {
  auto t = std::make_shared<const tree>(chosen.tree);
  return make_trial([t] { return sequential::search(*t, t->root()); },
                    [t] { return parallel::search(*t, t->root()); },
                    [=](const tally& found) {
                      auto a = counted(found.nodes, " nodes", chosen.nodes);
                      a.more = {{"leaves", static_cast<std::int64_t>(found.leaves)},
                                {"height", std::int64_t{found.height}}};
                      return a;
                    });
}

}  // namespace apps::uts
