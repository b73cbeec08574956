#include "../common/planned.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0;
  apps::blocking how;
  apps::driver app(
      "cholesky",
      "Cholesky decomposition of an N x N matrix, A = U'U, in place: a graph of subtasks that "
      "depend\non each other by the blocks that they read and write.\n"
      "The answer is the error of U'Ux - Ax relative to Ax, for a random x.",
      "cholesky 2500 --workers 2\n  mpirun -n 2 cholesky 2500 --workers 1",
      "Over several nodes each has some of the blocks, and sends those that others read.\n");
  app.number("N", n, 1, 30'000, "rows; 2500 take half a second, twice as many 8 times that");
  apps::add_blocking_options(app, how);
  app.parse(argc, argv);
  require_good(how);
  return apps::run_planned(app, apps::cholesky::trial_of(n, how), how.plan);
} catch (...) { return apps::failed("cholesky"); }
