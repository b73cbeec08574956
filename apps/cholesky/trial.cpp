#include "trial.hpp"

#include <memory>

#include "../common/measure.hpp"
#include "cholesky.hpp"
#include "problem.hpp"
#include "sequential.hpp"

namespace apps::cholesky {

trial trial_of(int n) {
  auto a = std::make_shared<const tiled_matrix>(positive_definite(n));
  auto on_a_copy = [a](auto decompose) {
    return [=](stopwatch& time) {
      tiled_matrix copy = *a;
      time.restart();
      decompose(copy);
      time.stop();
      return residual(copy, *a);
    };
  };
  return make_trial(on_a_copy([](auto& copy) { sequential::decompose(copy); }),
                    on_a_copy([](auto& copy) { parallel::decompose(copy); }),
                    [](double error) { return small_error(error); });
}

}  // namespace apps::cholesky
