// Cleave's graph: dependences come from what subtasks say that they read and write. Started by
// mpirun, neighbouring columns are on one node.
#pragma once

#include <algorithm>
#include <cleave/cleave.hpp>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "program.hpp"

namespace bench {

using row = std::vector<cleave::datum<cell>>;

// The steps of a graph: after so many the same cells are used in the same way, but by step 0.
inline int period_of(const grid& g) {
  return g.dependences == pattern::fft ? std::lcm(g.rows(), g.rows() - 2) : g.rows();
}

// Adds one subtask, whose function gets the cells that it reads and then the one that it writes. It
// is called again for every period of steps.
inline void add(cleave::team_graph& graph, const row& before, cleave::datum<cell> to, const grid& g,
                int step, int column, unsigned rank) {
  using cleave::in, cleave::on, cleave::out;
  const inputs from = g.of(step, column);
  auto read = [&](int i) { return in(before[std::size_t(from.column[std::size_t(i)])]); };
  struct {
    const grid& g;
    int step, column, period;
    int next() { return std::exchange(step, step + period); }
    void operator()() { compute(g, next(), column); }
    void operator()(cell& to) { compute(g, next(), column, to); }
    void operator()(const cell& a, cell& to) { compute(g, next(), column, to, a); }
    void operator()(const cell& a, const cell& b, cell& to) {
      compute(g, next(), column, to, a, b);
    }
    void operator()(const cell& a, const cell& b, const cell& c, cell& to) {
      compute(g, next(), column, to, a, b, c);
    }
  } subtask{g, step, column, period_of(g)};
  if (g.dependences == pattern::trivial) {
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

// `Repeats`: the subtasks of a period are made once.
template <bool Repeats>
struct whole {
  grid g;
  auto input() { return g.input(); }

  double run(cleave::team& all) const {
    cells of_all(g);
    const double begin = now();
    cleave::team_graph graph(all);
    auto rank_of = [&](int column) { return unsigned(column) * all.size() / unsigned(g.width); };
    std::vector<row> data(std::size_t(g.rows()));
    for (std::size_t step = 0; step < data.size(); step++)
      for (int column = 0; column < g.width; column++) {
        data[step].push_back(graph.refer(of_all.at(int(step), column)));
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
    auto make = [&](int first, int steps) {
      const auto mine = std::views::iota(0, steps * known) | std::views::transform([&](int i) {
                          return i / known * g.width + columns[std::size_t(i % known)];
                        });
      graph.for_mine(std::uint64_t(steps) * std::uint64_t(g.width), mine, [&](int i) {
        const int step = first + i / g.width, column = i % g.width;
        add(graph, cells_of(step + g.rows() - 1), cells_of(step)[std::size_t(column)], g, step,
            column, rank_of(column));
      });
    };
    if constexpr (Repeats) {
      const int period = period_of(g), rounds = (g.steps - 1) / period;
      make(0, 1);
      graph.repeat(std::uint64_t(rounds),
                   [&](std::uint64_t round) { make(1 + int(round) * period, period); });
      make(1 + rounds * period, g.steps - 1 - rounds * period);
    } else {
      make(0, g.steps);
    }
    graph.wait();
    const double seconds = now() - begin;
    if (all.size() == 1) of_all.expect_all_ran();
    return seconds;
  }
};

template <bool Repeats>
struct cleave_graph {
  static constexpr const char* name = Repeats ? "cleave_repeated" : "cleave";
  explicit cleave_graph(int workers) : on(cleave::options{.workers = workers}) {}
  int workers() { return int(on.job().workers); }
  double run(const grid& g) { return on.run_on_all(whole<Repeats>{g}); }

private:
  cleave::runtime on;
};

}  // namespace bench
