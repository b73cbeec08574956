// The same comparison with its second half marked: it can be given away.
#pragma once

#include <cleave/cleave.hpp>

#include "leaf.hpp"

namespace apps::compare::parallel {

using input = cleave::published<arrays>;

// The elements of both arrays from i and j, as a task.
long part(const input& in, long i, int n, long j, int m);

inline long compare(const input& in, const std::int32_t* a, int n, const std::int32_t* b, int m) {
  if (n < leaf_size && m < leaf_size) return leaf(a, n, b, m);
  const auto task = [&in](const std::int32_t* from_a, int of_a, const std::int32_t* from_b,
                          int of_b) {
    return cleave::call<part>(in, from_a - in->a.data(), of_a, from_b - in->b.data(), of_b);
  };
  if (n >= m) {
    int half = n / 2;
    auto [x, y] = cleave::both([=, &in] { return compare(in, a, half, b, m); },
                               [=, &in] { return compare(in, a + half, n - half, b, m); },
                               [=] { return task(a + half, n - half, b, m); });
    return x + y;
  }
  int half = m / 2;
  auto [x, y] = cleave::both([=, &in] { return compare(in, a, n, b, half); },
                             [=, &in] { return compare(in, a, n, b + half, m - half); },
                             [=] { return task(a, n, b + half, m - half); });
  return x + y;
}

inline long part(const input& in, long i, int n, long j, int m) {
  return compare(in, in->a.data() + i, n, in->b.data() + j, m);
}

}  // namespace apps::compare::parallel
