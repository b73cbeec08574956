// The body returns an int, and put's tasks a string.
// error: cannot be added to the total: it must be of the type that the body returns
#include <cleave/loop.hpp>

#include <string>

struct piece {
  int from, to;
  std::string run() { return {}; }
};
long f() {
  return cleave::sum(
      0, 9, [](int i) { return i; },
      [](int from, int to) {
        return piece{from, to};
      });
}
