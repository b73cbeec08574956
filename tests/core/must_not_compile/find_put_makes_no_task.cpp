// The put returns a number.
// error: put must return a task
#include <cleave/find.hpp>

auto f() {
  return cleave::find_first(
      0, 9, [](int i) { return i == 3; }, [](int from, int) { return from; });
}
