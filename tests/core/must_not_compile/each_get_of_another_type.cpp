// The get takes another type than the tasks return.
// error: get must take what the run.. of put.s tasks returns
#include <cleave/loop.hpp>

#include <string>

struct piece {
  int from, to;
  int run() { return to - from; }
};
void f() {
  cleave::each(
      0, 9, [](int) {},
      [](int from, int to) {
        return piece{from, to};
      },
      [](std::string) {});
}
