// The task is the first branch.
// error: the first branch runs here, and is a closure
#include <cleave/both.hpp>

struct rest {
  int run() { return 2; }
};
int f() {
  auto [x, y] = cleave::both(rest{}, [] { return 1; });
  return x + y;
}
