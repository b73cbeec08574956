// The body returns nothing.
// error: the body returns nothing: it must return whether something is found
#include <cleave/find.hpp>

void f() {
  cleave::find_first(0, 9, [](int) {});
}
