// The body captured what cannot be copied.
// error: is copied for each part, and this one cannot be copied
#include <cleave/loop.hpp>

#include <memory>

long f(std::unique_ptr<int> p) {
  return cleave::sum(0, 9, [p = std::move(p)](int i) { return i + *p; });
}
