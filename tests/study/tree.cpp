// The closed forms of bin(A, n, K): those of the paper, but for the span of K = 1, where it lacks
// A.
#include "kernels/tree.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

double power(double x, int n) { return std::pow(x, n); }

TEST(tree, work_and_span_are_the_papers) {
  for (int n = 0; n <= 12; n++)
    for (int k = 1; k <= 3; k++) {
      const bench::bin_parameters p{1, n, k};
      EXPECT_EQ(p.amounts(), (3 * k * power(2 * k, n) - (k + 1)) / (2 * k - 1)) << n << " " << k;
      EXPECT_EQ(p.amounts_on_path(),
                k == 1 ? 2 * n + 1 : (2 * power(k, n + 1) - (k + 1)) / (k - 1));
    }
  EXPECT_EQ((bench::bin_parameters{23'000, 18, 1}.amounts()), 786'430);
  EXPECT_EQ((bench::bin_parameters{750, 10, 2}.amounts()), 2'097'151);
  EXPECT_EQ((bench::bin_parameters{750, 10, 2}.amounts_on_path()), 4093);
}

TEST(tree, half_of_the_calls_are_tasks) {
  EXPECT_EQ((bench::bin_parameters{1, 0, 1}.tasks()), 0);
  EXPECT_EQ((bench::bin_parameters{1, 3, 1}.tasks()), 7);   // 15 calls
  EXPECT_EQ((bench::bin_parameters{1, 2, 2}.tasks()), 10);  // 21 calls
}

}  // namespace
