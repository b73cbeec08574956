// Cholesky decomposition in place, by halving the matrix: cache-oblivious. Sizes are counted in
// tiles.
#pragma once

#include "tile_factor.hpp"

namespace apps::cholesky::sequential {

// c -= a'b, where c is rows x columns and a is depth x rows: the largest of the three is halved.
inline void subtract(tiles c, const_tiles a, const_tiles b, int rows, int columns, int depth) {
  if (rows == 1 && columns == 1 && depth == 1) return cholesky::subtract(*a, *b, *c);
  if (rows >= columns && rows >= depth) {
    int half = rows / 2;
    subtract(c, a, b, half, columns, depth);
    subtract(c.part(half, 0), a.part(0, half), b, rows - half, columns, depth);
  } else if (columns >= depth) {
    int half = columns / 2;
    subtract(c, a, b, rows, half, depth);
    subtract(c.part(0, half), a, b.part(0, half), rows, columns - half, depth);
  } else {
    int half = depth / 2;
    subtract(c, a, b, rows, columns, half);
    subtract(c, a.part(half, 0), b.part(half, 0), rows, columns, depth - half);
  }
}

// c -= a'a on and above the diagonal of c, which is n x n.
inline void subtract_square(tiles c, const_tiles a, int n, int depth) {
  if (n == 1) return subtract(c, a, a, 1, 1, depth);
  int half = n / 2, rest = n - half;
  subtract_square(c, a, half, depth);
  subtract(c.part(0, half), a, a.part(0, half), half, rest, depth);
  subtract_square(c.part(half, half), a.part(0, half), rest, depth);
}

// Solves U'X = M for X, in the place of M, which is rows x columns.
inline void solve(const_tiles u, tiles m, int rows, int columns) {
  if (rows == 1 && columns == 1) return cholesky::solve(*u, *m);
  if (columns >= rows) {
    int half = columns / 2;
    solve(u, m, rows, half);
    solve(u, m.part(0, half), rows, columns - half);
  } else {
    int half = rows / 2;
    solve(u, m, half, columns);
    subtract(m.part(half, 0), u.part(0, half), m, rows - half, columns, half);
    solve(u.part(half, half), m.part(half, 0), rows - half, columns);
  }
}

inline void decompose(tiles a, int n) {
  if (n == 1) return factor(*a);
  int half = n / 2, rest = n - half;
  decompose(a, half);
  solve(a, a.part(0, half), half, rest);
  subtract_square(a.part(half, half), a.part(0, half), rest, half);
  decompose(a.part(half, half), rest);
}

inline void decompose(tiled_matrix& a) {
  if (a.count() > 0) decompose(a.whole(), a.count());
}

}  // namespace apps::cholesky::sequential
