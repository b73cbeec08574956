// The body returns nothing.
// error: the body of a sum returns what is added up
#include <cleave/loop.hpp>

void f() {
  cleave::sum(0, 9, [](int) {});
}
