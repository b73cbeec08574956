// One of the bounds is a double.
// error: a bound of the loop is a floating-point number
#include <cleave/loop.hpp>

double f(double n) {
  return cleave::reduce(
      0, n, 0, [](int i) { return i; }, [](int a, int b) { return a + b; });
}
