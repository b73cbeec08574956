// The second branch returns an int, and put's task a long.
// error: what put's task returns does not fit into what the second branch returns
#include <cleave/both.hpp>

struct rest {
  long run() { return 1L << 40; }
};
int f() {
  return cleave::both([] { return 1; }, [] { return 2; }, [] { return rest{}; }).second;
}
