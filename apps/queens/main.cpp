#include "../common/driver.hpp"
#include "board.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0, nodes = 0;
  apps::driver app("queens",
                   "Counts the ways to place N queens on a board of N x N squares so that none\n"
                   "attacks another.",
                   "queens 14 --workers 2");
  app.number("N", n, 1, apps::queens::board::max_n,
             "queens; 14 take half a second, one more 7 times as long");
  app.option_number(
      "--dealt", nodes, 1, 1'000,
      "Deal the columns of the first row to so many nodes, one after the other, each\n"
      "of which searches its own; then divide the search on request");
  app.parse(argc, argv);
  return app.run(nodes != 0 ? apps::queens::trial_of_dealing(n, nodes) : apps::queens::trial_of(n));
} catch (...) { return apps::failed("queens"); }
