// The second branch returns an int, and the task of the put a string.
// error: put.s task returns another type than the second branch
#include <cleave/both.hpp>

#include <string>

struct rest {
  std::string run() { return {}; }
};
int f() {
  return cleave::both([] { return 1; }, [] { return 2; }, [] { return rest{}; }).second;
}
