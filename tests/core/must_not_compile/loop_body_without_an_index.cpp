// The body takes no index.
// error: the body of the loop must take the index
#include <cleave/loop.hpp>

long f() {
  return cleave::sum(0, 9, [] { return 1; });
}
