#include "trial.hpp"

#include <memory>
#include <tuple>

#include "../common/measure.hpp"
#include "cholesky.hpp"
#include "problem.hpp"
#include "sequential.hpp"

namespace apps::cholesky {
namespace {

// What each node does: it makes the matrix, and takes its part in the decomposition.
struct decomposition {
  int n = 0;
  auto input() { return std::tie(n); }
  team_result<double> run(cleave::team& all) const {
    const tiled_matrix a = positive_definite(n);
    tiled_matrix copy = a;
    cleave::team_graph g(all);
    g.wait();  // waits until all nodes have the matrix
    const auto [cost, nothing] = timed([&] { return parallel::decompose(copy, g, all.size()), 0; });
    return {cost, all.rank() == 0 ? residual(copy, a) : 0};
  }
};

}  // namespace

trial trial_of(int n) {
  auto a = std::make_shared<const tiled_matrix>(positive_definite(n));
  auto sequentially = [a](stopwatch& time) {
    tiled_matrix copy = *a;
    time.restart();
    sequential::decompose(copy);
    time.stop();
    return residual(copy, *a);
  };
  return make_team_trial(sequentially, decomposition{n},
                         [](double error) { return small_error(error); });
}

}  // namespace apps::cholesky
