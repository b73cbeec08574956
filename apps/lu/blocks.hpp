// The decomposition by blocks, as a graph: each call says which blocks it reads and writes. Each
// tile is changed by the same functions, in the same order, as in the sequential program.
#pragma once

#include <cleave/cleave.hpp>

#include "../common/blocks.hpp"
#include "problem.hpp"
#include "sequential.hpp"

namespace apps::lu::blocked {

// Makes the subtasks.
inline void decompose(const blocked_matrix& a, cleave::team_graph& g) {
  using cleave::in, cleave::inout;
  const auto factor = [](block& m) { sequential::decompose(m.whole(), m.rows); };
  const auto solve_lower = [](const block& l, block& m) {
    sequential::lower_solve(m.whole(), l.whole(), m.rows, m.columns);
  };
  const auto solve_upper = [](const block& u, block& m) {
    sequential::upper_solve(m.whole(), u.whole(), m.rows, m.columns);
  };
  const auto subtract = [](const block& l, const block& u, block& m) {
    sequential::subtract(m.whole(), l.whole(), u.whole(), m.rows, m.columns, l.columns);
  };
  const int n = a.count();
  const auto run_panel = [&](int k) {
    g.run("factor", factor, inout(a(k, k)));
    for (int i = k + 1; i < n; i++) g.run("upper", solve_upper, in(a(k, k)), inout(a(i, k)));
  };
  // All wait for the next panel, so it is the first to be computed.
  g.earliest_first();
  if (n > 0) run_panel(0);
  for (int k = 0; k < n; k++)
    for (int j = k + 1; j < n; j++) {
      g.run("lower", solve_lower, in(a(k, k)), inout(a(k, j)));
      for (int i = k + 1; i < n; i++)
        g.run("subtract", subtract, in(a(i, k)), in(a(k, j)), inout(a(i, j)));
      if (j == k + 1) run_panel(j);
    }
}

struct problem {
  static diagonally_dominant element(int n) { return {n}; }
  static void decompose(const blocked_matrix& a, cleave::team_graph& g) {
    blocked::decompose(a, g);
  }
  static decomposed check(const tiled_matrix& factors, const tiled_matrix& a) {
    return lu::check(factors, a);
  }
};

}  // namespace apps::lu::blocked
