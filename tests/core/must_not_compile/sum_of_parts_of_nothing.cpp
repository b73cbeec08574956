// Tasks of the put return nothing.
// error: run.. of put.s tasks returns nothing
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  void run() {}
};
long f() {
  return cleave::sum(
      0, 9, [](int i) { return i; },
      [](int from, int to) {
        return piece{from, to};
      });
}
