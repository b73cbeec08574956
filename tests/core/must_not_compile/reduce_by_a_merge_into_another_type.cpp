// The merge returns a bool for strings.
// error: the merge of a reduce must return the new total
#include <cleave/loop.hpp>

#include <string>
#include <vector>

std::vector<int> f() {
  return cleave::reduce(
      0, 9, std::vector<int>{}, [](int i) { return std::vector<int>{i}; },
      [](const std::vector<int>& a, const std::vector<int>& b) { return a < b; });
}
