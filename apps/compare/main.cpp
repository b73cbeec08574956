#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::driver app(
      "compare",
      "Compares all pairs of two arrays of N numbers by always halving the longer one,\n"
      "down to fewer than 5 elements, and counts the equal pairs.",
      "compare 30000 --workers 2");
  app.number("N", n, 0, 10'000'000, "elements; 30000 take a quarter of a second");
  app.parse(argc, argv);
  return app.run(apps::compare::trial_of(n));
} catch (...) { return apps::failed("compare"); }
