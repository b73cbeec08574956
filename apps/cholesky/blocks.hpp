// The decomposition by blocks, as a graph: each call says which blocks it reads and writes. Each
// tile is changed by the same functions, in the same order, as in the sequential program.
#pragma once

#include <cleave/cleave.hpp>

#include "../common/blocks.hpp"
#include "problem.hpp"
#include "sequential.hpp"

namespace apps::cholesky::blocked {

// Makes the subtasks.
inline void decompose(const blocked_matrix& a, cleave::team_graph& g) {
  using cleave::in, cleave::inout;
  const auto factor = [](block& m) { sequential::decompose(m.whole(), m.rows); };
  const auto solve = [](const block& u, block& m) {
    sequential::solve(u.whole(), m.whole(), m.rows, m.columns);
  };
  const auto subtract_square = [](const block& u, block& m) {
    sequential::subtract_square(m.whole(), u.whole(), m.rows, u.rows);
  };
  const auto subtract = [](const block& left, const block& right, block& m) {
    sequential::subtract(m.whole(), left.whole(), right.whole(), m.rows, m.columns, left.rows);
  };
  const int n = a.count();
  const auto run_row = [&](int k) {
    g.run("factor", factor, inout(a(k, k)));
    for (int j = k + 1; j < n; j++) g.run("solve", solve, in(a(k, k)), inout(a(k, j)));
  };
  // All wait for the next row, so it is the first to be computed.
  g.earliest_first();
  if (n > 0) run_row(0);
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      g.run("square", subtract_square, in(a(k, i)), inout(a(i, i)));
      for (int j = i + 1; j < n; j++)
        g.run("subtract", subtract, in(a(k, i)), in(a(k, j)), inout(a(i, j)));
      if (i == k + 1) run_row(i);
    }
}

struct problem {
  static positive_definite element(int n) { return {n}; }
  static void decompose(const blocked_matrix& a, cleave::team_graph& g) {
    blocked::decompose(a, g);
  }
  static decomposed check(const tiled_matrix& factors, const tiled_matrix& a) {
    return cholesky::check(factors, a);
  }
};

}  // namespace apps::cholesky::blocked
