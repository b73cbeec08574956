// A branch returns a reference to what cannot be copied.
// error: returns a reference to what cannot be copied
#include <cleave/both.hpp>

#include <memory>

int f(std::unique_ptr<int>& p) {
  auto [x, y] = cleave::both(
      [&p]() -> auto& { return p; }, [] { return 2; });
  return *x + y;
}
