// The same with each call as a subtask, which says what it reads and writes.
#pragma once

#include <cleave/cleave.hpp>

#include <vector>

#include "tile_factor.hpp"

namespace apps::cholesky::parallel {

inline void decompose(tiled_matrix& matrix) {
  using cleave::in, cleave::inout;
  const int n = matrix.count();
  cleave::graph g;
  std::vector<std::vector<cleave::datum<tile>>> a(n, std::vector<cleave::datum<tile>>(n));
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) a[i][j] = g.refer(*matrix.whole().part(i, j));
  for (int k = 0; k < n; k++) {
    g.run("factor", factor, inout(a[k][k]));
    for (int j = k + 1; j < n; j++) g.run("solve", solve, in(a[k][k]), inout(a[k][j]));
    for (int i = k + 1; i < n; i++)
      for (int j = i; j < n; j++)
        g.run("subtract", subtract, in(a[k][i]), in(a[k][j]), inout(a[i][j]));
  }
  g.wait();
}

}  // namespace apps::cholesky::parallel
