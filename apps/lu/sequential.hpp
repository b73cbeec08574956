// LU decomposition in place and without pivoting, by halving the matrix: cache-oblivious, as in
// the Cilk distribution. Sizes are counted in tiles.
#pragma once

#include "../common/tile_product.hpp"
#include "tile_solve.hpp"

namespace apps::lu::sequential {

// c -= a b, where c is rows x columns and a is rows x depth: the largest of the three is halved.
inline void subtract(tiles c, const_tiles a, const_tiles b, int rows, int columns, int depth) {
  if (rows == 1 && columns == 1 && depth == 1) return add_product<-1>(*c, *a, *b);
  if (rows >= columns && rows >= depth) {
    int half = rows / 2;
    subtract(c, a, b, half, columns, depth);
    subtract(c.part(half, 0), a.part(half, 0), b, rows - half, columns, depth);
  } else if (columns >= depth) {
    int half = columns / 2;
    subtract(c, a, b, rows, half, depth);
    subtract(c.part(0, half), a, b.part(0, half), rows, columns - half, depth);
  } else {
    int half = depth / 2;
    subtract(c, a, b, rows, columns, half);
    subtract(c, a.part(0, half), b.part(half, 0), rows, columns, depth - half);
  }
}

// Solves L X = M for X, in the place of M, which is rows x columns.
inline void lower_solve(tiles m, const_tiles l, int rows, int columns) {
  if (rows == 1 && columns == 1) return lu::lower_solve(*m, *l);
  if (columns >= rows) {
    int half = columns / 2;
    lower_solve(m, l, rows, half);
    lower_solve(m.part(0, half), l, rows, columns - half);
  } else {
    int half = rows / 2;
    lower_solve(m, l, half, columns);
    subtract(m.part(half, 0), l.part(half, 0), m, rows - half, columns, half);
    lower_solve(m.part(half, 0), l.part(half, half), rows - half, columns);
  }
}

// Solves X U = M for X, in the place of M, which is rows x columns.
inline void upper_solve(tiles m, const_tiles u, int rows, int columns) {
  if (rows == 1 && columns == 1) return lu::upper_solve(*m, *u);
  if (rows >= columns) {
    int half = rows / 2;
    upper_solve(m, u, half, columns);
    upper_solve(m.part(half, 0), u, rows - half, columns);
  } else {
    int half = columns / 2;
    upper_solve(m, u, rows, half);
    subtract(m.part(0, half), m, u.part(0, half), rows, columns - half, half);
    upper_solve(m.part(0, half), u.part(half, half), rows, columns - half);
  }
}

inline void decompose(tiles a, int n) {
  if (n == 1) return lu::decompose(*a);
  int half = n / 2, rest = n - half;
  decompose(a, half);
  lower_solve(a.part(0, half), a, half, rest);
  upper_solve(a.part(half, 0), a, rest, half);
  subtract(a.part(half, half), a.part(half, 0), a.part(0, half), rest, rest, half);
  decompose(a.part(half, half), rest);
}

inline void decompose(tiled_matrix& a) {
  if (a.count() > 0) decompose(a.whole(), a.count());
}

}  // namespace apps::lu::sequential
