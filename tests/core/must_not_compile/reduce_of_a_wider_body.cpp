// The identity is an int, and the body returns a double.
// error: what the body returns does not fit into the type of the identity
#include <cleave/loop.hpp>

double f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i + 0.5; }, [](int a, int b) { return a + b; });
}
