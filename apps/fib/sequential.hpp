// Fibonacci numbers by double recursion: the smallest leaf there is, so it shows what a construct
// costs.
#pragma once

namespace apps::fib {

namespace sequential {

inline long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

}  // namespace sequential

// F(n) by iteration: the answer that both programs are checked against.
constexpr long expected(int n) {
  long a = 0;
  long b = 1;
  for (; n > 0; n--) {
    long next = a + b;
    a = b;
    b = next;
  }
  return a;
}

}  // namespace apps::fib
