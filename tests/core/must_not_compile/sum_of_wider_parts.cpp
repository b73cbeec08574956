// The body returns an int, and put's tasks a double.
// error: what put's tasks return does not fit into what the body returns
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  double run() { return (to - from) * 0.5; }
};
long f() {
  return cleave::sum(
      0, 9, [](int i) { return i; },
      [](int from, int to) {
        return piece{from, to};
      });
}
