// What the body returns is neither true nor false.
// error: what the body returns is neither true nor false
#include <cleave/find.hpp>

struct place {
  int row, column;
};
auto f() {
  return cleave::find_any(0, 9, [](int i) { return place{i, i}; });
}
