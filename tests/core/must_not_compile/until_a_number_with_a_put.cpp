// With a put too, the argument before it says when it is enough.
// error: the last argument of reduce_until must take the state
#include <cleave/reduce_until.hpp>
#include <cleave/shared.hpp>

struct part {
  int from, to;
  int run() { return to - from; }
};
int f() {
  return cleave::reduce_until(
      0, 9, 0, [](int i, int) { return i; }, cleave::max{}, 3,
      [](int from, int to, auto) {
        return part{from, to};
      });
}
