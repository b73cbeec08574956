// The put of a both returns a closure.
// error: put returns a closure: it must return a task
#include <cleave/both.hpp>

int f() {
  auto [x, y] = cleave::both([] { return 1; }, [] { return 2; }, [] { return [] { return 2; }; });
  return x + y;
}
