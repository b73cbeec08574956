// OpenMP's tasks with depend.
#include "program.hpp"

namespace {

using bench::cell;

// Makes one task; each number of cells has its own pragma, as depend does not take a pack.
struct task {
  const bench::grid* g;
  int step, column;

  void operator()() const {
    const task t = *this;
#pragma omp task firstprivate(t)
    compute(*t.g, t.step, t.column);
  }
  void operator()(cell& to) const {
    const task t = *this;
#pragma omp task firstprivate(t) shared(to) depend(out : to)
    compute(*t.g, t.step, t.column, to);
  }
  void operator()(cell& to, const cell& a) const {
    const task t = *this;
#pragma omp task firstprivate(t) shared(to, a) depend(in : a) depend(out : to)
    compute(*t.g, t.step, t.column, to, a);
  }
  void operator()(cell& to, const cell& a, const cell& b) const {
    const task t = *this;
#pragma omp task firstprivate(t) shared(to, a, b) depend(in : a, b) depend(out : to)
    compute(*t.g, t.step, t.column, to, a, b);
  }
  void operator()(cell& to, const cell& a, const cell& b, const cell& c) const {
    const task t = *this;
#pragma omp task firstprivate(t) shared(to, a, b, c) depend(in : a, b, c) depend(out : to)
    compute(*t.g, t.step, t.column, to, a, b, c);
  }
};

struct openmp_graph {
#if defined(__clang__)
  static constexpr const char* name = "libomp";
#else
  static constexpr const char* name = "libgomp";
#endif
  explicit openmp_graph(int workers) : workers_(workers) {}
  int workers() const { return workers_; }
  double run(const bench::grid& g) {
    bench::cells all(g);
    double seconds = 0;
#pragma omp parallel num_threads(workers_)
#pragma omp single
    {
      const double begin = bench::now();
      for (int step = 0; step < g.steps; step++)
        for (int column = 0; column < g.width; column++)
          with_cells(all, g, step, column, task{&g, step, column});
#pragma omp taskwait
      seconds = bench::now() - begin;
    }
    all.expect_all_ran();
    return seconds;
  }

private:
  int workers_;
};

}  // namespace

CLEAVE_GRAPH_PROGRAM(openmp_graph)
