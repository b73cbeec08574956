#include "../common/driver.hpp"
#include "board.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::driver app("queens",
                   "Counts the ways to place N queens on a board of N x N squares so that none\n"
                   "attacks another.",
                   "queens 14 --workers 2");
  app.number("N", n, 1, apps::queens::board::max_n,
             "queens; 14 take half a second, one more 7 times as long");
  app.parse(argc, argv);
  return app.run(apps::queens::trial_of(n));
} catch (...) { return apps::failed("queens"); }
