// The body takes no state.
// error: the body of reduce_until must take the index and the state
#include <cleave/reduce_until.hpp>
#include <cleave/shared.hpp>

int f() {
  return cleave::reduce_until(
      0, 9, 0, [](int i) { return i; }, cleave::max{}, [](int best) { return best > 3; });
}
