// The put of a reduce returns a number.
// error: put must return a task: a struct with run.., or cleave::call
#include <cleave/loop.hpp>

int f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i; }, [](int a, int b) { return a + b; },
      [](int from, int to) { return to - from; });
}
