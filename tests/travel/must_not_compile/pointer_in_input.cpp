// A pointer means nothing in another process.
// error: .*input.. names a pointer
#include <cleave/cleave.hpp>
#include <tuple>

struct piece {
  const int* values;
  int n;
  auto input() { return std::tie(values, n); }
  int run() { return values[n]; }
};

int main() {
  const int values[] = {1, 2};
  auto [x, y] = cleave::both([] { return 1; }, piece{values, 1});
  return x + y;
}
