// The bounds are doubles.
// error: a bound of the loop is a floating-point number
#include <cleave/loop.hpp>

double f() {
  return cleave::sum(0.0, 1.0, [](double x) { return x; });
}
