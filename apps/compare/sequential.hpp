// Compares all pairs of two arrays, always halving the longer one: cache-oblivious, with very
// small leaves. Tascell's Comp(n).
#pragma once

#include "leaf.hpp"

namespace apps::compare::sequential {

inline long compare(const std::int32_t* a, int n, const std::int32_t* b, int m) {
  if (n < leaf_size && m < leaf_size) return leaf(a, n, b, m);
  if (n >= m) {
    int half = n / 2;
    return compare(a, half, b, m) + compare(a + half, n - half, b, m);
  }
  int half = m / 2;
  return compare(a, n, b, half) + compare(a, n, b + half, m - half);
}

}  // namespace apps::compare::sequential
