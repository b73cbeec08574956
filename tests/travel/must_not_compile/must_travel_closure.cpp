// A closure is no task.
// error: must_travel: this is no task, and never leaves its process
#include <cleave/cleave.hpp>

int f() {
  auto [x, y] = cleave::both([] { return 1; }, cleave::must_travel([] { return 2; }));
  return x + y;
}
