#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::driver app("fib",
                   "The N-th Fibonacci number by double recursion. Its leaves are a handful of\n"
                   "instructions, so it shows what a construct costs.",
                   "fib 40 --workers 2");
  app.number("N", n, 0, 90, "which one; 40 takes a fraction of a second, 10 more 123 times that");
  app.parse(argc, argv);
  return app.run(apps::fib::trial_of(n));
} catch (...) { return apps::failed("fib"); }
