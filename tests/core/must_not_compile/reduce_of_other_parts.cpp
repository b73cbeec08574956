// The tasks of the put return a string.
// error: cannot be merged with the total: it must be of the type of the identity
#include <cleave/loop.hpp>

#include <string>

struct piece {
  int from, to;
  std::string run() { return {}; }
};
int f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i; }, [](int a, int b) { return a + b; },
      [](int from, int to) {
        return piece{from, to};
      });
}
