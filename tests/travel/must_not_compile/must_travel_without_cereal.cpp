// Nothing travels without cereal.
// flags: -DCLEAVE_NO_CEREAL
// error: must_travel: nothing travels
#include <cleave/cleave.hpp>

long g(int n) { return n; }

auto f() { return cleave::must_travel(cleave::call<g>(1)); }
