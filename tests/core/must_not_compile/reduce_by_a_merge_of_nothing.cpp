// The merge changes its argument, and returns nothing.
// error: the merge of a reduce must return the new total
#include <cleave/loop.hpp>

int f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i; }, [](int a, int b) { a += b; });
}
