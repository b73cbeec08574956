// The comparison with its second half marked: that half can be given away.
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
  // The captures stand in an order without gaps: both closures of a second half are 48 bytes
  // together, which stay in registers.
  if (n >= m) {
    const int half = n / 2, rest = n - half;
    const auto* upper = a + half;
    auto [x, y] = cleave::both([=] { return compare(a, half, b, m); },
                               [upper, b, rest, m] { return compare(upper, rest, b, m); },
                               [upper, b, rest, m] { return task_of(upper, rest, b, m); });
    return x + y;
  }
  const int half = m / 2, rest = m - half;
  const auto* upper = b + half;
  auto [x, y] = cleave::both([=] { return compare(a, n, b, half); },
                             [a, upper, n, rest] { return compare(a, n, upper, rest); },
                             [a, upper, n, rest] { return task_of(a, n, upper, rest); });
  return x + y;
}

inline long part(const input& in, long i, int n, long j, int m) {
  const in_use while_it_runs(in);
  return compare(in->a.data() + i, n, in->b.data() + j, m);
}

}  // namespace apps::compare::parallel
