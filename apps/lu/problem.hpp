// The matrix that is decomposed, and the check of what comes out.
#pragma once

#include "../common/decomposition.hpp"

namespace apps::lu {

// An element of a matrix that is diagonally dominant, so that no pivoting is needed.
struct diagonally_dominant {
  int n = 0;
  double operator()(int i, int j) const {
    random_numbers next(n);
    next.skip(static_cast<std::uint64_t>(i) * n + j);
    return 2 * next.fraction() - 1 + (i == j ? n : 0);
  }
};

inline tiled_matrix matrix(int n) { return matrix_of(n, diagonally_dominant{n}); }

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

inline decomposed check(const tiled_matrix& lu, const tiled_matrix& a) {
  decomposed d{residual(lu, a), {}};
  for (int i = 0; i < a.size(); i++)
    for (int j = 0; j < a.size(); j++) d.bits.add(lu(i, j));
  return d;
}

}  // namespace apps::lu
