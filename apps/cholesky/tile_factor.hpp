// What a Cholesky decomposition, A = U'U, does with tiles. Below the diagonal of the matrix nothing
// is read or written; in the tiles on it, what is there may change.
#pragma once

#include <cmath>

#include "../common/tiled_matrix.hpp"

namespace apps::cholesky {

inline void factor(tile& a) {
  for (int k = 0; k < tile_size; k++) {
    double inverse = 1 / (a.at[k][k] = std::sqrt(a.at[k][k]));
    for (int j = k + 1; j < tile_size; j++) a.at[k][j] *= inverse;
    for (int i = k + 1; i < tile_size; i++) {
      double left = a.at[k][i];
      for (int j = k + 1; j < tile_size; j++) a.at[i][j] -= left * a.at[k][j];
    }
  }
}

// Solves U'X = M for X, in the place of M.
inline void solve(const tile& u, tile& m) {
  for (int k = 0; k < tile_size; k++) {
    double inverse = 1 / u.at[k][k];
    for (int j = 0; j < tile_size; j++) m.at[k][j] *= inverse;
    for (int i = k + 1; i < tile_size; i++) {
      double left = u.at[k][i];
      for (int j = 0; j < tile_size; j++) m.at[i][j] -= left * m.at[k][j];
    }
  }
}

// c -= a'b. Four rows at a time, so that each value of b that is loaded is used four times.
inline void subtract(const tile& a, const tile& b, tile& c) {
  for (int i = 0; i < tile_size; i += 4) {
    double sum[4][tile_size] = {};
    for (int k = 0; k < tile_size; k++)
      for (int j = 0; j < tile_size; j++) {
        double right = b.at[k][j];
        sum[0][j] += a.at[k][i] * right;
        sum[1][j] += a.at[k][i + 1] * right;
        sum[2][j] += a.at[k][i + 2] * right;
        sum[3][j] += a.at[k][i + 3] * right;
      }
    for (int r = 0; r < 4; r++)
      for (int j = 0; j < tile_size; j++) c.at[i + r][j] -= sum[r][j];
  }
}

}  // namespace apps::cholesky
