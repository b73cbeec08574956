// The tasks of the put return a result, and there is no get.
// error: nobody takes it in: give each a get
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  int run() { return to - from; }
};
void f() {
  cleave::each(
      0, 9, [](int) {},
      [](int from, int to) {
        return piece{from, to};
      });
}
