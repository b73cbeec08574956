// The merge takes one value.
// error: the merge of a reduce must take two values, merge.total, next.
#include <cleave/loop.hpp>

int f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i; }, [](int a) { return a; });
}
