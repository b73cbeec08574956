// What the recursions of the merge sort end in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace apps::sort {

using value = std::uint32_t;

constexpr std::size_t sort_leaf = 16;      // values
constexpr std::size_t merge_leaf = 16384;  // values in both halves together

// Merges a[0..n) and b[0..m) into `to`; of equal values those of a come first. Which value goes
// next cannot be predicted, so it is computed without a branch; and from both ends at once, as
// each end is one long chain of dependent steps.
inline void merge_leaves(const value* a, std::size_t n, const value* b, std::size_t m, value* to) {
  const value* a_end = a + n;
  const value* b_end = b + m;
  value* to_end = to + n + m;
  for (std::size_t i = std::min(n, m); i > 0; i--) {
    bool b_first = *b < *a;
    *to++ = b_first ? *b : *a;
    b += b_first;
    a += !b_first;
    bool a_last = b_end[-1] < a_end[-1];
    *--to_end = a_last ? a_end[-1] : b_end[-1];
    a_end -= a_last;
    b_end -= !a_last;
  }
  while (a != a_end && b != b_end) {
    bool b_first = *b < *a;
    *to++ = b_first ? *b : *a;
    b += b_first;
    a += !b_first;
  }
  to = std::copy(a, a_end, to);
  std::copy(b, b_end, to);
}

}  // namespace apps::sort
