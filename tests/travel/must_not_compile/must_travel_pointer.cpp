// The second argument of the call is a pointer.
// error: must_travel: argument 2 of the call cannot be serialized
#include <cleave/cleave.hpp>

long total(int from, const int* values) { return values[from]; }

long f(const int* values) {
  auto [x, y] =
      cleave::both([] { return 1L; }, cleave::must_travel(cleave::call<total>(0, values)));
  return x + y;
}
