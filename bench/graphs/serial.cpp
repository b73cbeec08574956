// Calls in order: what the grid costs by itself.
#include "program.hpp"

struct serial_grid {
  static constexpr const char* name = "serial";
  explicit serial_grid(int) {}
  int workers() const { return 1; }
  double run(const bench::grid& g) {
    bench::cells all(g);
    const double begin = bench::now();
    for (int step = 0; step < g.steps; step++)
      for (int column = 0; column < g.width; column++)
        with_cells(all, g, step, column,
                   [&](auto&... cells) { compute(g, step, column, cells...); });
    const double seconds = bench::now() - begin;
    all.expect_all_ran();
    return seconds;
  }
};

CLEAVE_GRAPH_PROGRAM(serial_grid)
