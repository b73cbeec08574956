// The matrix that is decomposed, and the check of what comes out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/decomposition.hpp"

namespace apps::cholesky {

// An element of a matrix that is symmetric and diagonally dominant, so positive definite. Only what
// is on and above the diagonal is decomposed.
struct positive_definite {
  int n = 0;
  double operator()(int i, int j) const {
    const auto row = static_cast<std::uint64_t>(std::min(i, j)), column = std::max(i, j) - row;
    random_numbers next(n);
    next.skip(row * n - row * (row - 1) / 2 +
              column);  // the rows before have n, n - 1, ... numbers
    return 2 * next.fraction() - 1 + (i == j ? n : 0);
  }
};

// |U' (U x) - A x| / |A x| for a random vector x: 1e-14 or less when the decomposition is right.
inline double residual(const tiled_matrix& u, const tiled_matrix& a) {
  int n = a.size();
  auto x = random_vector(n, 1);
  std::vector<double> ux(n), uux(n), ax(n);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) ux[i] += u(i, j) * x[j];
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) uux[j] += u(i, j) * ux[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) ax[i] += a(i, j) * x[j];
  return relative_error(uux, ax);
}

inline decomposed check(const tiled_matrix& u, const tiled_matrix& a) {
  decomposed d{residual(u, a), {}};
  for (int i = 0; i < a.size(); i++)
    for (int j = i; j < a.size(); j++) d.bits.add(u(i, j));
  return d;
}

}  // namespace apps::cholesky
