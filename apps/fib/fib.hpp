// The recursion with its second call marked: that call can be given away.
#pragma once

#include <cleave/cleave.hpp>

namespace apps::fib::parallel {

inline long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = cleave::both([=] { return fib(n - 1); }, cleave::call<fib>(n - 2));
  return x + y;
}

}  // namespace apps::fib::parallel
