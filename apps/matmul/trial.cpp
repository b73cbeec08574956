#include "trial.hpp"

#include <memory>

#include "../common/measure.hpp"
#include "matmul.hpp"
#include "problem.hpp"
#include "sequential.hpp"

namespace apps::matmul {

trial trial_of(int n) {
  auto a = std::make_shared<tiled_matrix>(random_matrix(n, 1));
  auto b = std::make_shared<tiled_matrix>(random_matrix(n, 2));
  auto into_zeros = [=](auto multiply) {
    return [=](stopwatch& time) {
      tiled_matrix c(n);
      time.restart();
      multiply(c, *a, *b);
      time.stop();
      return residual(c, *a, *b);
    };
  };
  return make_trial(into_zeros([](auto&... m) { sequential::multiply(m...); }),
                    into_zeros([](auto&... m) { parallel::multiply(m...); }),
                    [](double error) { return small_error(error); });
}

}  // namespace apps::matmul
