// The graphs of which a subtask's least worthwhile length is measured: `steps` rows of `width`
// subtasks, each of which reads cells of the row before and writes its own.
//
// Source: E. Slaughter et al., Task Bench: A Parameterized Benchmark for Evaluating Parallel
// Runtime Performance (SC 2020), sections II and IV.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "kernels/clock.hpp"

namespace bench {

enum class pattern { trivial, stencil, fft };

// The columns that a subtask reads of the step before, in order.
struct inputs {
  std::array<int, 3> column{};
  int count = 0;

  const int* begin() const { return column.data(); }
  const int* end() const { return begin() + count; }
};

struct grid {
  pattern dependences = pattern::trivial;
  int width = 1, steps = 1;
  std::uint64_t amount = 0;  // the work in a subtask, as consume() gets it

  auto input() { return std::tie(dependences, width, steps, amount); }

  // Cells of so many steps are kept. Whatever read a cell comes before what overwrites it, by the
  // dependences of what is read alone; in fft once each distance had its turn.
  int rows() const { return dependences == pattern::fft ? distances() + 2 : 2; }

  // The columns that a subtask reads. trivial: nothing, and writes nothing. stencil: the column
  // itself and its neighbours. fft: the column itself and those that are 1, 2, 4, ... away, in
  // turn.
  inputs of(int step, int column) const {
    inputs all;
    if (step == 0 || dependences == pattern::trivial) return all;
    int distance = 1;
    if (dependences == pattern::fft) distance <<= (step - 1) % distances();
    for (const int at : {column - distance, column, column + distance})
      if (at >= 0 && at < width) all.column[std::size_t(all.count++)] = at;
    return all;
  }

  // The columns that a column's subtasks read in some step, or that read it: the same ones.
  std::vector<int> ever_of(int column) const {
    std::vector<int> all{column};
    const int most = dependences == pattern::fft ? distances() : dependences == pattern::stencil;
    for (int d = 0; d < most; d++)
      for (const int at : {column - (1 << d), column + (1 << d)})
        if (at >= 0 && at < width) all.push_back(at);
    return all;
  }

private:
  int distances() const { return std::max(1, int(std::bit_width(unsigned(width - 1)))); }
};

// What a subtask writes: which one it was.
struct cell {
  int step = -1, column = -1;

  auto fields() { return std::tie(step, column); }
};

// The subtask: looks whether what it reads is what it depends on, and computes.
template <class... In>
void compute(const grid& g, int step, int column, cell& out, const In&... in) {
  [[maybe_unused]] const inputs expected = g.of(step, column);
  [[maybe_unused]] int i = 0;
  if (((in.step != step - 1 || in.column != expected.column[std::size_t(i++)]) || ...))
    throw std::logic_error("a subtask ran before what it depends on");
  consume(g.amount);
  out = {step, column};
}
// A subtask that reads and writes nothing.
inline void compute(const grid& g, int, int) { consume(g.amount); }

class cells {
public:
  explicit cells(const grid& g)
      : of_(g), all_(new padded[std::size_t(g.rows()) * std::size_t(g.width)]) {}
  cell& at(int step, int column) {
    return all_[std::size_t(step % of_.rows()) * std::size_t(of_.width) + std::size_t(column)]
        .value;
  }
  // Throws if the last subtasks of these columns have not run.
  void expect_all_ran(int first, int last) {
    if (of_.dependences == pattern::trivial) return;
    for (int column = first; column < last; column++)
      if (at(of_.steps - 1, column).step != of_.steps - 1)
        throw std::logic_error("a subtask has not run");
  }
  void expect_all_ran() { expect_all_ran(0, of_.width); }

private:
  struct alignas(64) padded {
    cell value;
  };
  const grid of_;
  std::unique_ptr<padded[]> all_;
};

// body(out, in...) with references to the cells that a subtask writes and reads, if any.
template <class Body>
void with_cells(cells& all, const grid& g, int step, int column, const Body& body) {
  if (g.dependences == pattern::trivial) return body();
  const inputs in = g.of(step, column);
  auto before = [&](int i) -> cell& { return all.at(step - 1, in.column[std::size_t(i)]); };
  cell& out = all.at(step, column);
  switch (in.count) {
    case 0: return body(out);
    case 1: return body(out, before(0));
    case 2: return body(out, before(0), before(1));
    default: return body(out, before(0), before(1), before(2));
  }
}

}  // namespace bench
