// The matrix of CG: a weighted sum of outer products of sparse random vectors, plus (0.1 - shift)
// on the diagonal (RNR-94-007, section 2.4.1, and its routine makea).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

#include "../npb/random.hpp"

namespace apps::cg {

struct problem {
  int n;        // rows
  int nonzero;  // random elements of each vector
  int iterations;
  double shift;
  double zeta;  // the official answer
};

inline problem problem_of(char name) {
  switch (name) {
    case 'S': return {1400, 7, 15, 10, 8.5971775078648};
    case 'W': return {7000, 8, 15, 12, 10.362595087124};
    case 'A': return {14000, 11, 15, 20, 17.130235054029};
    default: return {75000, 13, 75, 60, 22.712745482631};
  }
}

// The numbers from first up to, and not with, last.
struct range {
  int first, last;
  int size() const { return last - first; }
  bool contains(int i) const { return first <= i && i < last; }
};

// Some rows and columns of the matrix, row by row; columns count from the first of them.
struct block {
  std::vector<std::size_t> begins;  // where each row begins, and the end of the last
  std::vector<int> columns;
  std::vector<double> values;

  // w = block · p. Two sums, because an addition waits for the one before.
  void multiply(const double* p, double* w) const {
    const int* const column = columns.data();
    const double* const value = values.data();
    for (std::size_t row = 0; row + 1 < begins.size(); ++row) {
      double even = 0, odd = 0;
      std::size_t k = begins[row];
      const std::size_t end = begins[row + 1];
      for (; k + 1 < end; k += 2) {
        even += value[k] * p[column[k]];
        odd += value[k + 1] * p[column[k + 1]];
      }
      if (k < end) even += value[k] * p[column[k]];
      w[row] = even + odd;
    }
  }
};

// The sparse vectors, in the order in which they are drawn: one for each row of the matrix.
class sparse_vectors {
public:
  struct element {
    int at;
    double value;
  };

  explicit sparse_vectors(const problem& p) {
    npb::random numbers(1);  // the specification's program draws one before
    const double power = std::bit_ceil(static_cast<unsigned>(p.n));
    std::vector<int> drawn_for(static_cast<std::size_t>(p.n), -1);
    begins_.push_back(0);
    for (int row = 0; row < p.n; ++row) {
      for (int found = 0; found < p.nonzero;) {
        const double value = numbers.next();
        const int at = static_cast<int>(power * numbers.next());
        if (at >= p.n || drawn_for[static_cast<std::size_t>(at)] == row) continue;
        drawn_for[static_cast<std::size_t>(at)] = row;
        elements_.push_back({at, value});
        ++found;
      }
      set(row, 0.5);
      begins_.push_back(elements_.size());
    }
  }
  const element* begin(int row) const { return &elements_[begins_[static_cast<std::size_t>(row)]]; }
  const element* end(int row) const { return begin(row + 1); }

private:
  void set(int at, double value) {
    for (std::size_t k = begins_.back(); k < elements_.size(); ++k)
      if (elements_[k].at == at) return void(elements_[k].value = value);
    elements_.push_back({at, value});
  }
  std::vector<std::size_t> begins_;
  std::vector<element> elements_;
};

// Calls f(row, column, value) for every term of the sum that lies in these rows and columns.
template <class F>
void each_term(const problem& p, const sparse_vectors& vectors, range rows, range columns, F f) {
  constexpr double condition = 0.1;
  const double ratio = std::pow(condition, 1.0 / p.n);
  double weight = 1;
  for (int i = 0; i < p.n; ++i, weight *= ratio) {
    for (auto* row = vectors.begin(i); row != vectors.end(i); ++row) {
      if (!rows.contains(row->at)) continue;
      for (auto* column = vectors.begin(i); column != vectors.end(i); ++column) {
        if (!columns.contains(column->at)) continue;
        double value = column->value * (row->value * weight);
        if (row->at == i && column->at == i) value += condition - p.shift;
        f(row->at - rows.first, column->at - columns.first, value);
      }
    }
  }
}

// Sorts the terms of each row by column and adds up those of the same place.
inline void merge_rows(block& b) {
  struct entry {
    int column;
    std::size_t place;  // where it was: those of one column are added up in that order
    double value;
  };
  std::vector<entry> row;
  std::size_t to = 0;
  for (std::size_t r = 0; r + 1 < b.begins.size(); ++r) {
    row.clear();
    for (std::size_t k = b.begins[r]; k < b.begins[r + 1]; ++k)
      row.push_back({b.columns[k], k, b.values[k]});
    std::sort(row.begin(), row.end(), [](const entry& x, const entry& y) {
      return std::tie(x.column, x.place) < std::tie(y.column, y.place);
    });
    b.begins[r] = to;
    for (const auto& [column, place, value] : row) {
      if (to > b.begins[r] && b.columns[to - 1] == column) {
        b.values[to - 1] += value;
      } else {
        b.columns[to] = column, b.values[to++] = value;
      }
    }
  }
  b.begins.back() = to;
  b.columns.resize(to), b.values.resize(to);
}

inline block make_block(const problem& p, range rows, range columns) {
  const sparse_vectors vectors(p);
  block b;
  b.begins.resize(static_cast<std::size_t>(rows.size()) + 1);
  each_term(p, vectors, rows, columns,
            [&](int row, int, double) { ++b.begins[static_cast<std::size_t>(row) + 1]; });
  for (std::size_t r = 1; r < b.begins.size(); ++r) b.begins[r] += b.begins[r - 1];
  b.columns.resize(b.begins.back()), b.values.resize(b.begins.back());
  std::vector<std::size_t> next(b.begins.begin(), b.begins.end() - 1);
  each_term(p, vectors, rows, columns, [&](int row, int column, double value) {
    const std::size_t at = next[static_cast<std::size_t>(row)]++;
    b.columns[at] = column, b.values[at] = value;
  });
  merge_rows(b);
  return b;
}

}  // namespace apps::cg
