// The matrices that are multiplied, and the check of what comes out.
#pragma once

#include "../common/tiled_matrix.hpp"

namespace apps::matmul {

inline tiled_matrix random_matrix(int n, std::uint64_t seed) {
  tiled_matrix a(n);
  random_numbers next(seed);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a(i, j) = 2 * next.fraction() - 1;
  return a;
}

inline std::vector<double> operator*(const tiled_matrix& a, const std::vector<double>& x) {
  std::vector<double> result(x.size());
  for (int i = 0; i < a.size(); i++)
    for (int j = 0; j < a.size(); j++) result[i] += a(i, j) * x[j];
  return result;
}

// |A (B x) - C x| / |A (B x)| for a random vector x (Freivalds): about 1e-15 when C = A B.
inline double residual(const tiled_matrix& c, const tiled_matrix& a, const tiled_matrix& b) {
  auto x = random_vector(c.size(), 1);
  const auto cx = c * x, abx = a * (b * x);
  return relative_error(cx, abx);
}

}  // namespace apps::matmul
