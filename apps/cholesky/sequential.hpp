// Cholesky decomposition by rows of tiles. Sizes are counted in tiles.
#pragma once

#include "tile_factor.hpp"

namespace apps::cholesky::sequential {

inline void decompose(tiled_matrix& matrix) {
  tiles a = matrix.whole();
  for (int n = matrix.count(), k = 0; k < n; k++) {
    factor(*a.part(k, k));
    for (int j = k + 1; j < n; j++) solve(*a.part(k, k), *a.part(k, j));
    for (int i = k + 1; i < n; i++)
      for (int j = i; j < n; j++) subtract(*a.part(k, i), *a.part(k, j), *a.part(i, j));
  }
}

}  // namespace apps::cholesky::sequential
