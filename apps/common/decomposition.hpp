// A decomposition of a matrix in its forms, how each is timed, and the check of what comes out.
#pragma once

#include <tuple>

#include "blocking.hpp"
#include "blocks.hpp"
#include "digest.hpp"
#include "measure.hpp"
#include "tiled_matrix.hpp"

namespace apps {

// What a decomposition has found.
struct decomposed {
  double error = 0;  // of the product of its factors
  digest bits;       // of the factors
  friend bool operator==(const decomposed&, const decomposed&) = default;
};

inline answer report(const decomposed& d) {
  answer a = small_error(d.error);
  a.more.emplace_back("digest", d.bits.text());
  return a;
}

// A Problem has element(n), which is a function of row and column; decompose(blocks, graph), which
// makes the subtasks; and check(factors, matrix).

// What each node does in a decomposition by blocks.
template <class Problem>
struct decomposition_by_blocks {
  int n = 0;
  blocking how;
  auto input() { return std::tie(n, how); }

  team_result<decomposed> run(cleave::team& all) const {
    cleave::team_graph g(all, how.plan);
    const int rows = how.rows != 0 ? how.rows : suitable_block(n);
    blocked_matrix a((n + tile_size - 1) / tile_size, rows / tile_size, g, all.size());
    a.fill(n, Problem::element(n));
    g.wait();  // waits until all nodes are here
    const auto [cost, whole] = timed([&] {
      Problem::decompose(a, g);
      return g.wait();
    });
    a.bring();
    g.wait();
    if (all.rank() != 0) return {cost, {}};
    tiled_matrix factors(n);
    a.copy_to(factors);
    return {cost, Problem::check(factors, matrix_of(n, Problem::element(n)))};
  }
};

// decompose(matrix), timed on a matrix that is made for it.
template <class Problem, class Decompose>
auto decompose_in_place(int n, Decompose decompose) {
  return [=](stopwatch& time) {
    const tiled_matrix a = matrix_of(n, Problem::element(n));
    tiled_matrix copy = a;
    time.restart();
    decompose(copy);
    time.stop();
    return Problem::check(copy, a);
  };
}

}  // namespace apps
