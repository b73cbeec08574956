// The put of a loop takes three numbers.
// error: and nothing besides: write put.from, to.
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  int run() { return to - from; }
};
void f() {
  cleave::each(
      0, 9, [](int) {},
      [](int from, int to, int) {
        return piece{from, to};
      },
      [](int) {});
}
