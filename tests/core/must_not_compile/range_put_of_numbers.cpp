// The put takes the bounds of a part, as in a loop over numbers.
// error: put\(part\) must take the elements to give
#include <cleave/range.hpp>

#include <vector>

struct piece {
  int from, to;
  int run() { return to - from; }
};
int f(const std::vector<int>& v) {
  return cleave::sum(
      v, [](int x) { return x; },
      [](int from, int to) {
        return piece{from, to};
      });
}
