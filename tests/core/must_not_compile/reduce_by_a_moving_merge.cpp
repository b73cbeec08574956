// The merge returns its argument, which would be moved to itself.
// error: the merge returns an rvalue reference
#include <cleave/loop.hpp>

#include <utility>
#include <vector>

std::vector<int> f() {
  return cleave::reduce(
      0, 9, std::vector<int>{}, [](int i) { return std::vector<int>{i}; },
      [](auto&& a, auto&& b) -> auto&& {
        a.insert(a.end(), b.begin(), b.end());
        return std::move(a);
      });
}
