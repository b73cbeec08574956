// The same recursion with its second call marked: it can be given away.
#pragma once

#include <cleave/cleave.hpp>
#include <tuple>

namespace apps::fib::parallel {

long fib(int n);

struct piece {
  int n;
  auto input() { return std::tie(n); }
  long run() { return fib(n); }
};

inline long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = cleave::both([=] { return fib(n - 1); }, piece{n - 2});
  return x + y;
}

}  // namespace apps::fib::parallel
