// LU and Cholesky decompositions by blocks find what the sequential programs find, bit for bit,
// whatever the matrix, the blocks and the workers.
#include <gtest/gtest.h>

#include "cholesky/blocks.hpp"
#include "lu/blocks.hpp"

namespace {

using apps::blocking, apps::tiled_matrix;

// An oracle without tiles, blocks or recursion. Sums are made in another order, so its numbers
// differ in their last bits.
void plain_lu(tiled_matrix& a) {
  for (int n = a.size(), k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a(i, k) /= a(k, k);
      for (int j = k + 1; j < n; j++) a(i, j) -= a(i, k) * a(k, j);
    }
}
void plain_cholesky(tiled_matrix& a) {
  for (int n = a.size(), k = 0; k < n; k++) {
    a(k, k) = std::sqrt(a(k, k));
    for (int j = k + 1; j < n; j++) a(k, j) /= a(k, k);
    for (int i = k + 1; i < n; i++)
      for (int j = i; j < n; j++) a(i, j) -= a(k, i) * a(k, j);
  }
}

template <class Problem, class Plain, class Sequential>
void expect_same(const Plain& plain, const Sequential& sequential, bool upper) {
  apps::random_numbers next(11);
  const auto below = [&](int end) { return static_cast<int>(next() % static_cast<unsigned>(end)); };
  for (int round = 0; round < 24; round++) {
    const int n = 1 + below(round < 5 ? 32 : 330), rows = apps::tile_size * (1 + below(5));
    const tiled_matrix matrix = apps::matrix_of(n, Problem::element(n));
    tiled_matrix expected = matrix, by_definition = matrix;
    sequential(expected);
    plain(by_definition);
    for (int i = 0; i < n; i++)
      for (int j = upper ? i : 0; j < n; j++)
        ASSERT_NEAR(expected(i, j), by_definition(i, j), 1e-12 * n) << n << ": " << i << ' ' << j;
    const auto right = Problem::check(expected, matrix);
    cleave::runtime runtime(cleave::options{.workers = 1 + below(4)});
    const auto found = runtime.run_on_all(
        apps::decomposition_by_blocks<Problem>{n, blocking{round % 4 == 0 ? 0 : rows}});
    EXPECT_LT(found.found.error, 1e-12);
    EXPECT_EQ(found.found.bits.text(), right.bits.text()) << n << " rows in blocks of " << rows;
  }
}

TEST(decompositions, lu_is_that_of_the_sequential_program) {
  expect_same<apps::lu::blocked::problem>(
      plain_lu, [](tiled_matrix& a) { apps::lu::sequential::decompose(a); }, false);
}
TEST(decompositions, cholesky_is_that_of_the_sequential_program) {
  expect_same<apps::cholesky::blocked::problem>(
      plain_cholesky, [](tiled_matrix& a) { apps::cholesky::sequential::decompose(a); }, true);
}

}  // namespace
