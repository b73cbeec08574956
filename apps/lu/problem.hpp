// The matrix that is decomposed, and the check of what comes out.
#pragma once

#include "../common/tiled_matrix.hpp"

namespace apps::lu {

// The matrix is diagonally dominant, so that no pivoting is needed; the rows and columns that fill
// the last tiles are those of the identity, and change nothing.
inline tiled_matrix diagonally_dominant(int n) {
  tiled_matrix a(n);
  random_numbers next(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a(i, j) = 2 * next.fraction() - 1;
    a(i, i) += n;
  }
  for (int i = n; i < a.count() * tile_size; i++) a(i, i) = 1;
  return a;
}

// |L (U x) - A x| / |A x| for a random vector x: 1e-14 or less when the decomposition is
// right.
inline double residual(const tiled_matrix& lu, const tiled_matrix& a) {
  int n = a.size();
  auto x = random_vector(n, 1);
  std::vector<double> ux(n);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) ux[i] += lu(i, j) * x[j];
  auto lux = ux;
  std::vector<double> ax(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) lux[i] += lu(i, j) * ux[j];
    for (int j = 0; j < n; j++) ax[i] += a(i, j) * x[j];
  }
  return relative_error(lux, ax);
}

}  // namespace apps::lu
