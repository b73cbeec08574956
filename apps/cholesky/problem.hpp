// The matrix that is decomposed, and the check of what comes out.
#pragma once

#include <vector>

#include "../common/tiled_matrix.hpp"

namespace apps::cholesky {

// The matrix is symmetric and diagonally dominant, so positive definite; the rows and columns that
// fill the last tiles are those of the identity, and change nothing. Only what is on and above the
// diagonal is decomposed.
inline tiled_matrix positive_definite(int n) {
  tiled_matrix a(n);
  random_numbers next(n);
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) a(j, i) = a(i, j) = 2 * next.fraction() - 1;
    a(i, i) += n;
  }
  for (int i = n; i < a.count() * tile_size; i++) a(i, i) = 1;
  return a;
}

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

}  // namespace apps::cholesky
