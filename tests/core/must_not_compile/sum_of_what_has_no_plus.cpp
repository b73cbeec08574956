// The body returns what cannot be added.
// error: cannot be added to the total: it needs .\+=
#include <cleave/loop.hpp>

struct point {
  int x;
};
int f() {
  return cleave::sum(0, 9, [](int i) { return point{i}; }).x;
}
