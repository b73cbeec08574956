// Identity and body are int, and put's tasks return a long.
// error: what put's tasks return does not fit into the type of the identity
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  long run() { return 1L << 40; }
};
int f() {
  return cleave::reduce(
      0, 9, 7, [](int i) { return i; }, [](int a, int b) { return a < b ? a : b; },
      [](int from, int to) {
        return piece{from, to};
      });
}
