// The product of two tiles, added to or subtracted from a third: where dense linear algebra
// spends its time.
#pragma once

#include "tiled_matrix.hpp"

namespace apps {

// c += Sign * a * b
template <int Sign>
inline void add_product(tile& c, const tile& a, const tile& b) {
  // Four rows at a time, so that each value of b that is loaded is used four times.
  for (int i = 0; i < tile_size; i += 4) {
    double sum[4][tile_size] = {};
    for (int k = 0; k < tile_size; k++)
      for (int j = 0; j < tile_size; j++) {
        double right = b.at[k][j];
        sum[0][j] += a.at[i][k] * right;
        sum[1][j] += a.at[i + 1][k] * right;
        sum[2][j] += a.at[i + 2][k] * right;
        sum[3][j] += a.at[i + 3][k] * right;
      }
    for (int r = 0; r < 4; r++)
      for (int j = 0; j < tile_size; j++) c.at[i + r][j] += Sign * sum[r][j];
  }
}

}  // namespace apps
