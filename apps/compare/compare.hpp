// The same comparison with its second half marked: it can be given away within the process, which
// both arrays belong to.
#pragma once

#include <cleave/cleave.hpp>

#include "leaf.hpp"

namespace apps::compare::parallel {

inline long compare(const std::int32_t* a, int n, const std::int32_t* b, int m) {
  if (n < leaf_size && m < leaf_size) return leaf(a, n, b, m);
  if (n >= m) {
    int half = n / 2;
    auto [x, y] = cleave::both([=] { return compare(a, half, b, m); },
                               [=] { return compare(a + half, n - half, b, m); });
    return x + y;
  }
  int half = m / 2;
  auto [x, y] = cleave::both([=] { return compare(a, n, b, half); },
                             [=] { return compare(a, n, b + half, m - half); });
  return x + y;
}

}  // namespace apps::compare::parallel
