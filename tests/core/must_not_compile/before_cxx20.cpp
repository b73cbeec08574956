// A program that is compiled as C++17, which is GCC 12's default.
// flags: -std=c++17
// error: Cleave needs C.*20
#include <cleave/cleave.hpp>
