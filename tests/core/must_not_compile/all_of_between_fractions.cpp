// A bound is no integer.
// error: a bound of the loop is a floating-point number
#include <cleave/find.hpp>

bool f() {
  return cleave::all_of(0, 9.0, [](double x) { return x > 0; });
}
