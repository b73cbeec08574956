// The put of a loop is written as that of a both.
// error: write put.from, to., not put\(\)
#include <cleave/loop.hpp>

struct piece {
  int from, to;
  int run() { return to - from; }
};
long f() {
  return cleave::sum(
      0, 9, [](int i) { return i; },
      [] {
        return piece{0, 9};
      });
}
