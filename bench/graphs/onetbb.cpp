// oneTBB's flow graph: a node for each subtask, an edge for each dependence, made by the program.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>

#include "program.hpp"

struct onetbb_graph {
  static constexpr const char* name = "onetbb";
  explicit onetbb_graph(int workers)
      : limit_(tbb::global_control::max_allowed_parallelism, std::size_t(workers)),
        arena_(workers) {}
  int workers() const { return arena_.max_concurrency(); }
  double run(const bench::grid& g) {
    bench::cells all(g);
    return arena_.execute([&] {
      using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
      const double begin = bench::now();
      tbb::flow::graph graph;
      tbb::flow::broadcast_node<tbb::flow::continue_msg> first(graph);
      std::deque<node> nodes;
      for (int step = 0; step < g.steps; step++)
        for (int column = 0; column < g.width; column++) {
          nodes.emplace_back(graph, [&, step, column](const tbb::flow::continue_msg&) {
            with_cells(all, g, step, column,
                       [&](auto&... cells) { compute(g, step, column, cells...); });
          });
          const bench::inputs from = g.of(step, column);
          const auto row_before = nodes.size() - 1 - std::size_t(column) - std::size_t(g.width);
          for (const int c : from) make_edge(nodes[row_before + std::size_t(c)], nodes.back());
          if (from.count == 0) make_edge(first, nodes.back());
        }
      first.try_put({});
      graph.wait_for_all();
      const double seconds = bench::now() - begin;
      all.expect_all_ran();
      return seconds;
    });
  }

private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

CLEAVE_GRAPH_PROGRAM(onetbb_graph)
