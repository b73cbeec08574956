// A pointer inside of what input() names is found too.
// error: .*input.. must return std::tie..... of fields that can be serialized
#include <cleave/cleave.hpp>
#include <tuple>
#include <vector>

struct inner {
  int n;
  const char* name;
};
struct piece {
  std::vector<inner> all;
  auto input() { return std::tie(all); }
  int run() { return static_cast<int>(all.size()); }
};

int main() {
  auto [x, y] = cleave::both([] { return 1; }, piece{});
  return x + y;
}
