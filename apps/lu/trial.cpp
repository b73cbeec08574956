#include "trial.hpp"

#include "blocks.hpp"
#include "lu.hpp"
#include "sequential.hpp"

namespace apps::lu {
namespace {

using blocked::problem;

auto sequentially(int n) {
  return decompose_in_place<problem>(n, [](auto& a) { sequential::decompose(a); });
}

}  // namespace

trial trial_of(int n) {
  return make_trial(sequentially(n),
                    decompose_in_place<problem>(n, [](auto& a) { parallel::decompose(a); }),
                    report);
}

trial trial_by_blocks(int n, const blocking& how) {
  return make_team_trial(sequentially(n), decomposition_by_blocks<problem>{n, how}, report);
}

}  // namespace apps::lu
