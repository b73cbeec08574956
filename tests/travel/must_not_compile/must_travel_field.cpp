// The task names a pointer.
// error: .*input.. names a pointer
#include <cleave/cleave.hpp>
#include <tuple>

struct piece {
  const int* values;
  auto input() { return std::tie(values); }
  int run() { return *values; }
};

piece f(const int* values) { return cleave::must_travel(piece{values}); }
