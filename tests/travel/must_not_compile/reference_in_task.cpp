// Nor does a reference.
// error: .*needs a default constructor, and no member that is a reference
#include <cleave/cleave.hpp>
#include <tuple>

struct piece {
  const int& value;
  auto input() { return std::tie(value); }
  int run() { return value; }
};

int main() {
  const int value = 1;
  auto [x, y] = cleave::both([] { return 1; }, piece{value});
  return x + y;
}
