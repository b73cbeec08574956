// The put of a loop takes the index.
// error: write put.from, to., not put\(i\)
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  int run() { return to - from; }
};
int f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i; }, [](int a, int b) { return a + b; },
      [](int i) {
        return piece{i, i + 1};
      });
}
