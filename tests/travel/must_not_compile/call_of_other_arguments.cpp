// A call's arguments are those of its function.
// error: .*the arguments must be those that f takes
#include <cleave/cleave.hpp>

long f(int n) { return n; }

int main() {
  auto [x, y] = cleave::both([] { return 1L; }, cleave::call<f>(1, 2));
  return static_cast<int>(x + y);
}
