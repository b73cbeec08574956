#include <string>

#include "../common/planned.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  bool by_blocks = false;
  apps::blocking how;
  apps::driver app(
      "lu",
      "LU decomposition of an N x N matrix, in place and without pivoting, by halving.\n"
      "The answer is the error of LUx - Ax relative to Ax, for a random x.",
      "lu 2500 --workers 2\n  mpirun -n 2 lu 2500 --graph --workers 1",
      "Without --graph its tasks stay in their process, which the matrix belongs to.\n");
  app.number("N", n, 1, 30'000, "rows; 2500 take a second, twice as many 8 times that");
  app.flag("--graph", by_blocks,
           "Decompose by blocks, whose subtasks are a graph: over several nodes too, each of which "
           "has\nsome of the blocks");
  apps::add_blocking_options(app, how);
  app.parse(argc, argv);
  require_good(how);
  for (const char* of_graph : {"--block", "--plan"})
    if (!by_blocks && app.is_given(of_graph))
      throw apps::usage_error(std::string(of_graph) + ": expected with --graph, got without");
  return by_blocks ? apps::run_planned(app, apps::lu::trial_by_blocks(n, how), how.plan)
                   : app.run(apps::lu::trial_of(n));
} catch (...) { return apps::failed("lu"); }
