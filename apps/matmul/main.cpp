#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::driver app(
      "matmul",
      "The product of two N x N matrices by halving the longest of the three extents.\n"
      "The answer is the error of A(Bx) - Cx relative to A(Bx), for a random x.",
      "matmul 1500 --workers 2",
      "Its tasks stay in their process: they work in three matrices, which belong to the "
      "process.\n");
  app.number("N", n, 1, 30'000, "rows; 1500 take a second, twice as many 8 times that");
  app.parse(argc, argv);
  return app.run(apps::matmul::trial_of(n));
} catch (...) { return apps::failed("matmul"); }
