#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::driver app(
      "lu",
      "LU decomposition of an N x N matrix, in place and without pivoting, by halving.\n"
      "The answer is the error of LUx - Ax relative to Ax, for a random x.",
      "lu 2500 --workers 2",
      "Its tasks stay in their process: they work in one matrix, which belongs to the process.\n");
  app.number("N", n, 1, 30'000, "rows; 2500 take a second, twice as many 8 times that");
  app.parse(argc, argv);
  return app.run(apps::lu::trial_of(n));
} catch (...) { return apps::failed("lu"); }
