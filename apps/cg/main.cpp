// NAS Parallel Benchmarks, kernel CG: the smallest eigenvalue of a sparse symmetric matrix by
// inverse iteration; each step solves a linear system by 25 steps of conjugate gradients.
#include "../npb/program.hpp"
#include "grid.hpp"

namespace {

using namespace apps::cg;
using vector = std::vector<double>;

double dot(const vector& a, const vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class solver {
public:
  solver(const problem& what, int rank, int ranks)
      : ranks_(rank, ranks, what.n),
        matrix_(make_block(what, ranks_.rows(), ranks_.columns())),
        x_(static_cast<std::size_t>(ranks_.columns().size())),
        z_(x_.size()),
        r_(x_.size()),
        p_(x_.size()),
        q_(x_.size()) {}

  double zeta(const problem& what, int iterations) {
    std::fill(x_.begin(), x_.end(), 1.0);
    double zeta = 0;
    for (int i = 0; i < iterations; ++i) {
      solve();
      const double product = ranks_.sum(dot(x_, z_));
      const double scale = 1 / std::sqrt(ranks_.sum(dot(z_, z_)));
      zeta = what.shift + 1 / product;
      for (std::size_t k = 0; k < x_.size(); ++k) x_[k] = scale * z_[k];
    }
    return zeta;
  }

private:
  // matrix · z = x, nearly; and how nearly, which the specification computes too.
  double solve() {
    std::fill(z_.begin(), z_.end(), 0.0);
    r_ = x_, p_ = x_;
    double rho = ranks_.sum(dot(r_, r_));
    for (int step = 0; step < 25; ++step) {
      ranks_.multiply(matrix_, p_, q_);
      const double alpha = rho / ranks_.sum(dot(p_, q_));
      for (std::size_t k = 0; k < z_.size(); ++k) {
        z_[k] += alpha * p_[k];
        r_[k] -= alpha * q_[k];
      }
      const double before = std::exchange(rho, ranks_.sum(dot(r_, r_)));
      const double beta = rho / before;
      for (std::size_t k = 0; k < p_.size(); ++k) p_[k] = r_[k] + beta * p_[k];
    }
    ranks_.multiply(matrix_, z_, q_);
    double error = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) error += (x_[k] - q_[k]) * (x_[k] - q_[k]);
    return std::sqrt(ranks_.sum(error));
  }

  grid ranks_;
  block matrix_;
  vector x_, z_, r_, p_, q_;
};

apps::npb::result run(char size, const apps::npb::mpi& world, const apps::npb::timing& how) {
  const problem what = problem_of(size);
  apps::npb::check_ranks(world.ranks(), 1024);
  solver s(what, world.rank(), world.ranks());
  s.zeta(what, 1);  // untimed: touches all memory
  double zeta = 0;
  const auto took = apps::npb::measure(world, how, [&] { zeta = s.zeta(what, what.iterations); });
  return {zeta, fmt::format("zeta = {:.13g}", zeta), took,
          std::abs(zeta - what.zeta) <= 1e-10 * what.zeta};
}

}  // namespace

int main(int argc, char** argv) {
  return apps::npb::main(argc, argv, "cg",
                         "NAS Parallel Benchmarks, kernel CG: conjugate gradients. An MPI program.",
                         run);
}
