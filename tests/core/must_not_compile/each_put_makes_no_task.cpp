// The put of an each returns nothing.
// error: put returns nothing: it must return a task
#include <cleave/loop.hpp>

void f() {
  cleave::each(
      0, 9, [](int) {}, [](int, int) {});
}
