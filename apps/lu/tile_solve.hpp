// What an LU decomposition does within a tile. In a tile that is decomposed, L is below the
// diagonal, with ones on it that are not stored, and U is on and above the diagonal.
#pragma once

#include "../common/tiled_matrix.hpp"

namespace apps::lu {

inline void decompose(tile& a) {
  for (int k = 0; k < tile_size; k++) {
    double inverse = 1 / a.at[k][k];
    for (int i = k + 1; i < tile_size; i++) {
      double factor = a.at[i][k] *= inverse;
      for (int j = k + 1; j < tile_size; j++) a.at[i][j] -= factor * a.at[k][j];
    }
  }
}

// Solves L X = M for X, in the place of M.
inline void lower_solve(tile& m, const tile& l) {
  for (int i = 1; i < tile_size; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < tile_size; j++) m.at[i][j] -= l.at[i][k] * m.at[k][j];
}

// Solves X U = M for X, in the place of M.
inline void upper_solve(tile& m, const tile& u) {
  for (int k = 0; k < tile_size; k++) {
    double inverse = 1 / u.at[k][k];
    for (int i = 0; i < tile_size; i++) {
      double factor = m.at[i][k] *= inverse;
      for (int j = k + 1; j < tile_size; j++) m.at[i][j] -= factor * u.at[k][j];
    }
  }
}

}  // namespace apps::lu
