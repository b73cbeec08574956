// The task does not name its fields.
// error: must_travel: the task has no input
#include <cleave/cleave.hpp>

struct piece {
  int n;
  int run() { return n; }
};

int f() {
  auto [x, y] = cleave::both([] { return 1; }, cleave::must_travel(piece{1}));
  return x + y;
}
