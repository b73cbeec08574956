// The identity is an int, and so is what the body returns, but not what merge does.
// error: what merge returns does not fit into the type of the identity
#include <cleave/loop.hpp>

double f() {
  return cleave::reduce(
      0, 9, 0, [](int i) { return i; }, [](double a, double b) { return a + b / 2; });
}
