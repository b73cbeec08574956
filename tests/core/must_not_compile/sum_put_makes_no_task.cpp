// The put returns a number.
// error: put must return a task: a struct with run.., or cleave::call
#include <cleave/loop.hpp>

long f() {
  return cleave::sum(
      0, 9, [](int i) { return i; }, [](int from, int to) { return to - from; });
}
