// The product with the second half marked where both halves write different tiles: it can be given
// away within the process, which the matrices belong to.
#pragma once

#include <cleave/cleave.hpp>

#include "../common/tile_product.hpp"

namespace apps::matmul::parallel {

// c += a b, where c is rows x columns and a is rows x depth.
inline void multiply(tiles c, tiles a, tiles b, int rows, int columns, int depth) {
  if (rows == 1 && columns == 1 && depth == 1) return add_product<1>(*c, *a, *b);
  if (rows >= columns && rows >= depth) {
    int half = rows / 2;
    cleave::both(
        [=] { multiply(c, a, b, half, columns, depth); },
        [=] { multiply(c.part(half, 0), a.part(half, 0), b, rows - half, columns, depth); });
  } else if (columns >= depth) {
    int half = columns / 2;
    cleave::both(
        [=] { multiply(c, a, b, rows, half, depth); },
        [=] { multiply(c.part(0, half), a, b.part(0, half), rows, columns - half, depth); });
  } else {
    int half = depth / 2;
    multiply(c, a, b, rows, columns, half);
    multiply(c, a.part(0, half), b.part(half, 0), rows, columns, depth - half);
  }
}

// c += a b
inline void multiply(tiled_matrix& c, tiled_matrix& a, tiled_matrix& b) {
  int n = c.count();
  if (n > 0) multiply(c.whole(), a.whole(), b.whole(), n, n, n);
}

}  // namespace apps::matmul::parallel
