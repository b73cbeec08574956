// The decomposition with each call as a subtask, which says what it reads and writes. Tiles are
// dealt to the nodes like the fields of a chessboard, so all have work to the end.
#pragma once

#include <cleave/cleave.hpp>

#include <cmath>
#include <vector>

#include "tile_factor.hpp"

namespace apps::cholesky::parallel {

// All nodes have the same matrix before; node 0 has the result.
inline void decompose(tiled_matrix& matrix, cleave::team_graph& g, unsigned nodes) {
  using cleave::in, cleave::inout;
  const int n = matrix.count();
  auto rows = static_cast<unsigned>(std::sqrt(nodes));
  while (nodes % rows != 0) --rows;
  const unsigned columns = nodes / rows;
  std::vector<std::vector<cleave::datum<tile>>> a(n, std::vector<cleave::datum<tile>>(n));
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      a[i][j] = g.refer(*matrix.whole().part(i, j));
      g.set_home(a[i][j],
                 static_cast<unsigned>(i) % rows * columns + static_cast<unsigned>(j) % columns);
    }
  for (int k = 0; k < n; k++) {
    g.run("factor", factor, inout(a[k][k]));
    for (int j = k + 1; j < n; j++) g.run("solve", solve, in(a[k][k]), inout(a[k][j]));
    for (int j = k; j < n; j++) g.bring(a[k][j], 0);
    for (int i = k + 1; i < n; i++)
      for (int j = i; j < n; j++)
        g.run("subtract", subtract, in(a[k][i]), in(a[k][j]), inout(a[i][j]));
  }
  g.wait();
}

}  // namespace apps::cholesky::parallel
