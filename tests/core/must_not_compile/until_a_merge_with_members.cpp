// The merge captures something.
// error: the merge of reduce_until must be a function object without members
#include <cleave/reduce_until.hpp>

int f(int bias) {
  return cleave::reduce_until(
      0, 9, 0, [](int i, int) { return i; }, [bias](int a, int b) { return a + bias > b ? a : b; },
      [](int best) { return best > 3; });
}
