// The put of a both is written as that of a loop.
// error: the put of both takes nothing
#include <cleave/both.hpp>

struct rest {
  int run() { return 2; }
};
int f() {
  return cleave::both([] { return 1; }, [] { return 2; }, [](int, int) { return rest{}; }).second;
}
