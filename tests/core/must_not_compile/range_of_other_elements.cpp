// The body takes no element of the range.
// error: the body of a loop over a range takes an element of it
#include <cleave/range.hpp>

#include <string>
#include <vector>

void f(std::vector<std::string>& v) {
  cleave::each(v, [](int&) {});
}
