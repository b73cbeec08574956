// The name is of two functions. No compiler can be told what to say; each shows the line of call.
// error: no matching function for call to
// says: overloaded: call<\(R \(\*\)\(P\.\.\.\)\)f>
#include <cleave/cleave.hpp>

long g(int n) { return n; }
long g(long n) { return n; }

auto f() { return cleave::call<g>(1); }
