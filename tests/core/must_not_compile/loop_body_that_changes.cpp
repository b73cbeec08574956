// The body counts, and has no put.
// error: must not change what it captured .mutable.
#include <cleave/loop.hpp>

long f(int n) {
  return cleave::sum(0, 9, [n](int i) mutable { return i * ++n; });
}
