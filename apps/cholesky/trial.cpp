#include "trial.hpp"

#include "blocks.hpp"
#include "sequential.hpp"

namespace apps::cholesky {

trial trial_of(int n, const blocking& how) {
  using blocked::problem;
  return make_team_trial(decompose_in_place<problem>(n, [](auto& a) { sequential::decompose(a); }),
                         decomposition_by_blocks<problem>{n, how}, report);
}

}  // namespace apps::cholesky
