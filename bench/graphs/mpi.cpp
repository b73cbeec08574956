// Plain MPI: each rank has neighbouring columns, and after a step sends what others read.
#include <mpi.h>

#include <cstdlib>
#include <vector>

#include "program.hpp"

struct mpi_graph {
  static constexpr const char* name = "mpi";
  explicit mpi_graph(int) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    std::atexit([] { MPI_Finalize(); });
  }
  int workers() const { return ranks_; }
  bool leads() const { return rank_ == 0; }
  double from_leader(double x) const {
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return x;
  }

  double run(const bench::grid& g) {
    bench::cells all(g);
    const int first = part(rank_, g), last = part(rank_ + 1, g);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = bench::now();
    std::vector<MPI_Request> sent;
    for (int step = 0; step < g.steps; step++) {
      if (step > 0) exchange(all, g, step, first, last, sent);
      for (int column = first; column < last; column++)
        with_cells(all, g, step, column,
                   [&](auto&... cells) { compute(g, step, column, cells...); });
    }
    MPI_Waitall(int(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
    double seconds = bench::now() - begin, most = 0;
    all.expect_all_ran(first, last);
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
  }

private:
  int part(int rank, const bench::grid& g) const { return int(long(rank) * g.width / ranks_); }
  int rank_of(int column, const bench::grid& g) const {
    int rank = 0;
    while (part(rank + 1, g) <= column) ++rank;
    return rank;
  }

  // Sends and receives the cells of the step before; each at most once to each rank.
  void exchange(bench::cells& all, const bench::grid& g, int step, int first, int last,
                std::vector<MPI_Request>& sent) {
    // A cell is written again two steps later at the earliest: what was sent of it is out by then.
    MPI_Waitall(int(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
    sent.clear();
    if (g.dependences == bench::pattern::trivial) return;
    std::vector<MPI_Request> received;
    std::vector<bool> wanted(std::size_t(g.width));
    for (int column = first; column < last; column++)
      for (const int c : g.of(step, column)) {
        if ((c >= first && c < last) || wanted[std::size_t(c)]) continue;
        wanted[std::size_t(c)] = true;
        MPI_Irecv(&all.at(step - 1, c), sizeof(bench::cell), MPI_BYTE, rank_of(c, g), c,
                  MPI_COMM_WORLD, &received.emplace_back());
      }
    std::vector<int> told(std::size_t(g.width), -1);  // the last rank that a cell was sent to
    for (int column = 0; column < g.width; column++) {
      if (column >= first && column < last) continue;
      const int to = rank_of(column, g);
      for (const int c : g.of(step, column)) {
        if (c < first || c >= last || told[std::size_t(c)] == to) continue;
        told[std::size_t(c)] = to;
        MPI_Isend(&all.at(step - 1, c), sizeof(bench::cell), MPI_BYTE, to, c, MPI_COMM_WORLD,
                  &sent.emplace_back());
      }
    }
    MPI_Waitall(int(received.size()), received.data(), MPI_STATUSES_IGNORE);
  }

  int rank_ = 0, ranks_ = 1;
};

CLEAVE_GRAPH_PROGRAM(mpi_graph)
