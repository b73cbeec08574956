// The sort with the second branch marked: that branch can be given away within the process, which
// the array belongs to.
#pragma once

#include <cleave/cleave.hpp>

#include "leaf.hpp"

namespace apps::sort::parallel {

// Merges a[0..n) and b[0..m) into `to`; of equal values those of a come first.
inline void merge(const value* a, std::size_t n, const value* b, std::size_t m, value* to) {
  if (n + m <= merge_leaf) return merge_leaves(a, n, b, m, to);
  std::size_t i, j;  // how much of a and of b goes to the first part
  if (n >= m) {
    i = n / 2;
    j = std::lower_bound(b, b + m, a[i]) - b;
  } else {
    j = m / 2;
    i = std::upper_bound(a, a + n, b[j]) - a;
  }
  cleave::both([=] { merge(a, i, b, j, to); },
               [=] { merge(a + i, n - i, b + j, m - j, to + i + j); });
}

// Sorts from[0..n), and leaves the result there or in other[0..n).
inline void sort(value* from, value* other, std::size_t n, bool into_other) {
  if (n <= sort_leaf) {
    std::sort(from, from + n);
    if (into_other) std::copy(from, from + n, other);
    return;
  }
  std::size_t half = n / 2;
  cleave::both([=] { sort(from, other, half, !into_other); },
               [=] { sort(from + half, other + half, n - half, !into_other); });
  value* sorted = into_other ? from : other;
  merge(sorted, half, sorted + half, n - half, into_other ? other : from);
}

}  // namespace apps::sort::parallel
