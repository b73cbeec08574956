// Square matrices of doubles, stored tile by tile: a tile is contiguous, so it stays in the
// first-level cache whatever the size of the matrix, and its loops have constant bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "random.hpp"

namespace apps {

constexpr int tile_size = 32;

struct alignas(64) tile {
  double at[tile_size][tile_size];
  auto fields() { return std::tie(at); }
};

// A rectangle of tiles within a matrix.
struct tiles {
  tile* first;
  std::ptrdiff_t stride;

  tile& operator*() const { return *first; }
  tiles part(int row, int column) const { return {first + row * stride + column, stride}; }
};

// A rectangle of tiles that is only read.
struct const_tiles {
  const tile* first;
  std::ptrdiff_t stride;

  const_tiles(const tile* begin, std::ptrdiff_t row) : first(begin), stride(row) {}
  const_tiles(tiles t) : first(t.first), stride(t.stride) {}
  const tile& operator*() const { return *first; }
  const_tiles part(int row, int column) const { return {first + row * stride + column, stride}; }
};

class tiled_matrix {
public:
  // All zero, also in what is added to fill the last tiles.
  explicit tiled_matrix(int size)
      : n_(size),
        count_((size + tile_size - 1) / tile_size),
        tiles_(static_cast<std::size_t>(count_) * count_, tile{}) {}

  int size() const { return n_; }
  int count() const { return count_; }  // tiles in a row
  tiles whole() { return {tiles_.data(), count_}; }

  double& operator()(int row, int column) {
    return tiles_[index(row, column)].at[row % tile_size][column % tile_size];
  }
  double operator()(int row, int column) const {
    return tiles_[index(row, column)].at[row % tile_size][column % tile_size];
  }

private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row / tile_size) * count_ + column / tile_size;
  }

  int n_, count_;
  std::vector<tile> tiles_;
};

// Fills a tile that has so many rows and columns of tiles before it. element(i, j) is a number of
// the n x n matrix; the rows and columns that fill the last tiles are those of the identity.
template <class Element>
void fill(tile& t, int rows_before, int columns_before, int n, const Element& element) {
  for (int r = 0; r < tile_size; r++)
    for (int c = 0; c < tile_size; c++) {
      const int i = rows_before * tile_size + r, j = columns_before * tile_size + c;
      const double identity = i == j ? 1 : 0;
      t.at[r][c] = i < n && j < n ? element(i, j) : identity;
    }
}

template <class Element>
tiled_matrix matrix_of(int n, const Element& element) {
  tiled_matrix a(n);
  for (int i = 0; i < a.count(); i++)
    for (int j = 0; j < a.count(); j++) fill(*a.whole().part(i, j), i, j, n, element);
  return a;
}

// Values in [-1, 1).
inline std::vector<double> random_vector(int n, std::uint64_t seed) {
  random_numbers next(seed);
  std::vector<double> v(n);
  for (double& x : v) x = 2 * next.fraction() - 1;
  return v;
}

// The largest difference, relative to the largest value expected; infinite if there is a NaN.
inline double relative_error(const std::vector<double>& found,
                             const std::vector<double>& expected) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); i++) {
    worst = std::max(worst, std::isnan(found[i]) ? HUGE_VAL : std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

}  // namespace apps
