// A branch was called, instead of being given.
// error: a branch must be a closure without parameters
#include <cleave/both.hpp>

int g(int n) { return n; }
int f() {
  auto [x, y] = cleave::both([] { return 1; }, g(1));
  return x + y;
}
