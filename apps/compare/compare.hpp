// The same comparison with its second half marked: it can be given away.
#pragma once

#include <cleave/cleave.hpp>

#include "inputs.hpp"
#include "leaf.hpp"

namespace apps::compare::parallel {

// The n and m elements of both arrays from i and j, as a task.
long part(const input& in, long i, int n, long j, int m);

inline auto task_of(const std::int32_t* a, int n, const std::int32_t* b, int m) {
  const input in = in_use::of(a);
  return cleave::call<part>(in, a - in->a.data(), n, b - in->b.data(), m);
}

inline long compare(const std::int32_t* a, int n, const std::int32_t* b, int m) {
  if (n < leaf_size && m < leaf_size) return leaf(a, n, b, m);
  if (n >= m) {
    int half = n / 2;
    auto [x, y] = cleave::both([=] { return compare(a, half, b, m); },
                               [=] { return compare(a + half, n - half, b, m); },
                               [=] { return task_of(a + half, n - half, b, m); });
    return x + y;
  }
  int half = m / 2;
  auto [x, y] = cleave::both([=] { return compare(a, n, b, half); },
                             [=] { return compare(a, n, b + half, m - half); },
                             [=] { return task_of(a, n, b + half, m - half); });
  return x + y;
}

inline long part(const input& in, long i, int n, long j, int m) {
  const in_use while_it_runs(in);
  return compare(in->a.data() + i, n, in->b.data() + j, m);
}

}  // namespace apps::compare::parallel
