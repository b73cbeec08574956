// Taskflow: a task for each subtask, an edge for each dependence, made by the program.
#include <taskflow/taskflow.hpp>
#include <vector>

#include "program.hpp"

struct taskflow_graph {
  static constexpr const char* name = "taskflow";
  explicit taskflow_graph(int workers) : executor_(std::size_t(workers)) {}
  int workers() const { return int(executor_.num_workers()); }
  double run(const bench::grid& g) {
    bench::cells all(g);
    const double begin = bench::now();
    tf::Taskflow flow;
    std::vector<tf::Task> before, row;
    for (int step = 0; step < g.steps; step++) {
      row.clear();
      for (int column = 0; column < g.width; column++) {
        row.push_back(flow.emplace([&, step, column] {
          with_cells(all, g, step, column,
                     [&](auto&... cells) { compute(g, step, column, cells...); });
        }));
        for (const int c : g.of(step, column)) before[std::size_t(c)].precede(row.back());
      }
      std::swap(before, row);
    }
    executor_.run(flow).get();
    const double seconds = bench::now() - begin;
    all.expect_all_ran();
    return seconds;
  }

private:
  tf::Executor executor_;
};

CLEAVE_GRAPH_PROGRAM(taskflow_graph)
