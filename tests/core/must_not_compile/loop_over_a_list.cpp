// The bounds are iterators of a list.
// error: these iterators cannot be the bounds of a loop
#include <cleave/loop.hpp>

#include <list>

void f(std::list<int>& all) {
  cleave::each(all.begin(), all.end(), [](int& x) { ++x; });
}
