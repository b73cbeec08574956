// error: gives it a const T&
#include <cleave/cleave.hpp>

void f() {
  cleave::graph g;
  auto x = g.make(1);
  g.run([](int& v) { ++v; }, in(x));
}
