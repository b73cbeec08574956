// Ranks as a grid, and what CG sends over it (Bailey et al., The NAS Parallel Benchmarks 2.0,
// NAS-95-020).
#pragma once

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "matrix.hpp"

namespace apps::cg {

// A power of two of ranks, in as many rows as columns, or half as many. The rank in row i and
// column j has the matrix's block (i, j), and piece j of each vector, as all of its column do.
class grid {
public:
  grid(int rank, int ranks, int n) : rank_(rank), n_(n) {
    const int log2 = std::countr_zero(static_cast<unsigned>(ranks));
    columns_ = 1 << (log2 + 1) / 2, rows_ = ranks / columns_;
    const range wide = rows();
    work_.resize(static_cast<std::size_t>(wide.size()));
    received_.resize(work_.size());
  }

  range columns() const { return piece(column()); }
  range rows() const {
    const int wide = columns_ / rows_;
    return {piece(row() * wide).first, piece(row() * wide + wide - 1).last};
  }

  // The sum over the ranks of this row, the same on all of them to the last bit.
  double sum(double x) {
    for (int distance = columns_ / 2; distance > 0; distance /= 2) {
      double other = 0;
      exchange(rank_ ^ distance, &x, 1, &other, 1);
      x += other;
    }
    return x;
  }

  // q = block · p: adds up over the row of ranks what belongs to this row of the matrix, and sends
  // it to the rank whose columns those rows are.
  void multiply(const block& a, const std::vector<double>& p, std::vector<double>& q) {
    a.multiply(p.data(), work_.data());
    const int wide = columns_ / rows_;
    const range mine =
        wide == 2 ? share_halves() : range{0, rows().size()};  // still to be added up
    for (int distance = columns_ / 2; distance >= wide; distance /= 2)
      add_exchanged(rank_ ^ distance, mine, mine);
    const int partner = column() / wide * columns_ + row() * wide + column() % wide;
    if (partner == rank_) {
      std::copy_n(&work_[at(mine.first)], mine.size(), q.begin());
    } else {
      exchange(partner, &work_[at(mine.first)], mine.size(), q.data(), columns().size());
    }
  }

private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int row() const { return rank_ / columns_; }
  int column() const { return rank_ % columns_; }
  range piece(int i) const {
    auto edge = [this](long k) { return static_cast<int>(n_ * k / columns_); };
    return {edge(i), edge(i + 1)};
  }

  // Neighbours each go on with one half: the one that their columns' parity names.
  range share_halves() {
    const int middle = piece(row() * 2).size(), all = rows().size();
    const range low{0, middle}, high{middle, all};
    const bool odd = column() % 2 != 0;
    add_exchanged(rank_ ^ 1, odd ? low : high, odd ? high : low);
    return odd ? high : low;
  }
  void add_exchanged(int partner, range sent, range added) {
    exchange(partner, &work_[at(sent.first)], sent.size(), received_.data(), added.size());
    for (int i = 0; i < added.size(); ++i) work_[at(added.first + i)] += received_[at(i)];
  }
  static void exchange(int partner, const double* sent, int count, double* received, int expected) {
    MPI_Request request;
    MPI_Irecv(received, expected, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request);
    MPI_Send(sent, count, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  int rank_, n_;
  int rows_ = 1, columns_ = 1;
  std::vector<double> work_, received_;
};

}  // namespace apps::cg
