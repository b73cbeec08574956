// The call returns a pointer.
// error: must_travel: the result of the call cannot be serialized
#include <cleave/cleave.hpp>

const char* name(int) { return ""; }

void f() {
  cleave::both([] {}, cleave::must_travel(cleave::call<name>(1)));
}
