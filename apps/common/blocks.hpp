// A square matrix in square blocks of tiles, each of which is a datum of a graph.
#pragma once

#include <algorithm>
#include <cleave/cleave.hpp>
#include <cstddef>
#include <tuple>
#include <vector>

#include "board.hpp"
#include "tiled_matrix.hpp"

namespace apps {

// Tiles that are stored on their own, row by row. Sizes are counted in tiles.
struct block {
  int rows = 0, columns = 0;
  std::vector<tile> of;

  auto fields() { return std::tie(rows, columns, of); }
  tiles whole() { return {of.data(), columns}; }
  const_tiles whole() const { return {of.data(), columns}; }
};

// The rows of a block, a multiple of tile_size, if nobody says. A matrix of n rows has ten by ten
// blocks, so that nodes have work to the end; a product of two takes no less than some 30 us, and
// the three that it reads and writes fit into a second-level cache.
inline int suitable_block(int n) {
  const int tenth = (n / 10 + tile_size - 1) / tile_size * tile_size;
  return std::clamp(tenth, 2 * tile_size, 8 * tile_size);
}

class blocked_matrix {
public:
  using datum = cleave::datum<block>;

  // `rows` of tiles are divided into blocks of `of_block` rows; the last ones may have fewer.
  blocked_matrix(int rows, int of_block, cleave::team_graph& g, unsigned nodes)
      : rows_(rows), of_block_(of_block), count_((rows + of_block - 1) / of_block), graph_(g) {
    const board of_nodes(nodes);
    for_all([&](int i, int j) {
      blocks_.push_back(g.make<block>());
      g.set_home(blocks_.back(), of_nodes.node(i, j, count_));
    });
  }

  int count() const { return count_; }  // blocks in a row
  datum operator()(int i, int j) const {
    return blocks_[static_cast<std::size_t>(i) * static_cast<std::size_t>(count_) +
                   static_cast<std::size_t>(j)];
  }

  // Each block is filled where it belongs; what is n x n has the elements.
  template <class Element>
  void fill(int n, const Element& element) {
    for_all([=, this](int i, int j) {
      graph_.run(
          "fill",
          [=, rows = size(i), columns = size(j), above = i * of_block_,
           left = j * of_block_](block& b) {
            b = {rows, columns, std::vector<tile>(static_cast<std::size_t>(rows) * columns)};
            for (int r = 0; r < rows; r++)
              for (int c = 0; c < columns; c++)
                apps::fill(*b.whole().part(r, c), above + r, left + c, n, element);
          },
          out((*this)(i, j)));
    });
  }

  // After the graph's wait() the first node has all blocks.
  void bring() {
    for_all([this](int i, int j) { graph_.bring((*this)(i, j), 0); });
  }
  void copy_to(tiled_matrix& a) const {
    for_all([&](int i, int j) {
      const block& b = *(*this)(i, j);
      for (int r = 0; r < b.rows; r++)
        for (int c = 0; c < b.columns; c++)
          *a.whole().part(i * of_block_ + r, j * of_block_ + c) = *b.whole().part(r, c);
    });
  }

private:
  int size(int i) const { return std::min(of_block_, rows_ - i * of_block_); }
  template <class Visit>
  void for_all(const Visit& visit) const {
    for (int i = 0; i < count_; i++)
      for (int j = 0; j < count_; j++) visit(i, j);
  }

  int rows_, of_block_, count_;
  cleave::team_graph& graph_;
  std::vector<datum> blocks_;
};

}  // namespace apps
