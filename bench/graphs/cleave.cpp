// Cleave's graph: dependences come from what subtasks say that they read and write. Started by
// mpirun, neighbouring columns are on one node.
#include <algorithm>
#include <cleave/cleave.hpp>
#include <ranges>
#include <vector>

#include "program.hpp"

namespace {

using bench::cell;
using row = std::vector<cleave::datum<cell>>;

// Adds one subtask, whose function gets the cells that it reads and then the one that it writes.
void add(cleave::team_graph& graph, const row& before, cleave::datum<cell> to, const bench::grid& g,
         int step, int column, unsigned rank) {
  using cleave::in, cleave::on, cleave::out;
  const bench::inputs from = g.of(step, column);
  auto read = [&](int i) { return in(before[std::size_t(from.column[std::size_t(i)])]); };
  struct {
    const bench::grid& g;
    int step, column;
    void operator()() const { compute(g, step, column); }
    void operator()(cell& to) const { compute(g, step, column, to); }
    void operator()(const cell& a, cell& to) const { compute(g, step, column, to, a); }
    void operator()(const cell& a, const cell& b, cell& to) const {
      compute(g, step, column, to, a, b);
    }
    void operator()(const cell& a, const cell& b, const cell& c, cell& to) const {
      compute(g, step, column, to, a, b, c);
    }
  } subtask{g, step, column};
  if (g.dependences == bench::pattern::trivial) {
    graph.run(subtask, on(rank));
    return;
  }
  switch (from.count) {
    case 0: graph.run(subtask, out(to)); break;
    case 1: graph.run(subtask, read(0), out(to)); break;
    case 2: graph.run(subtask, read(0), read(1), out(to)); break;
    default: graph.run(subtask, read(0), read(1), read(2), out(to));
  }
}

struct whole {
  bench::grid g;
  auto input() { return g.input(); }

  double run(cleave::team& all) const {
    bench::cells cells(g);
    const double begin = bench::now();
    cleave::team_graph graph(all);
    auto rank_of = [&](int column) { return unsigned(column) * all.size() / unsigned(g.width); };
    std::vector<row> data(std::size_t(g.rows()));
    for (std::size_t step = 0; step < data.size(); step++)
      for (int column = 0; column < g.width; column++) {
        data[step].push_back(graph.refer(cells.at(int(step), column)));
        graph.set_home(data[step].back(), rank_of(column));
      }
    auto cells_of = [&](int step) -> const row& { return data[std::size_t(step % g.rows())]; };
    // The columns of which this node has to know.
    std::vector<int> columns;
    for (int column = 0; column < g.width; column++) {
      const auto near = g.ever_of(column);
      if (std::any_of(near.begin(), near.end(), [&](int c) { return rank_of(c) == all.rank(); }))
        columns.push_back(column);
    }
    const int known = int(columns.size());
    const auto mine = std::views::iota(0, g.steps * known) | std::views::transform([&](int i) {
                        return i / known * g.width + columns[std::size_t(i % known)];
                      });
    graph.for_mine(std::uint64_t(g.steps) * std::uint64_t(g.width), mine, [&](int i) {
      const int step = i / g.width, column = i % g.width;
      add(graph, cells_of(step + g.rows() - 1), cells_of(step)[std::size_t(column)], g, step,
          column, rank_of(column));
    });
    graph.wait();
    const double seconds = bench::now() - begin;
    if (all.size() == 1) cells.expect_all_ran();
    return seconds;
  }
};

struct cleave_graph {
  static constexpr const char* name = "cleave";
  explicit cleave_graph(int workers) : on(cleave::options{.workers = workers}) {}
  int workers() { return int(on.job().workers); }
  double run(const bench::grid& g) { return on.run_on_all(whole{g}); }

private:
  cleave::runtime on;
};

}  // namespace

CLEAVE_GRAPH_PROGRAM(cleave_graph)
