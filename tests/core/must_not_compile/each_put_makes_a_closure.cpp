// The put of an each returns a closure.
// error: put returns a closure: it must return a task
#include <cleave/loop.hpp>

void f() {
  cleave::each(
      0, 9, [](int) {}, [](int, int) { return [] {}; }, [] {});
}
