#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::driver app("gravity",
                   "The pull of the (2N+1)^3 particles of a cubic lattice on a point outside it:\n"
                   "three nested loops.",
                   "gravity 200 --workers 2");
  app.number("N", n, 0, 10'000, "half an edge of the cube; 200 take a fraction of a second");
  app.parse(argc, argv);
  return app.run(apps::gravity::trial_of(n));
} catch (...) { return apps::failed("gravity"); }
