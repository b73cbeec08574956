// The grids on the way from the puzzle to where the search is.
#pragma once

#include <array>
#include <cstddef>

#include "grid.hpp"

namespace apps::sudoku {

class workspace {
public:
  explicit workspace(const grid& g) { levels_[0] = g; }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  const grid& top() const { return levels_[depth_]; }
  // Goes on with a copy of the top in which a digit is set, and drops that again.
  void push(int cell, int digit) {
    levels_[depth_ + 1] = levels_[depth_];
    levels_[++depth_].set(cell, digit);
  }
  void pop() { depth_--; }

private:
  std::array<grid, cells + 1> levels_;  // those above the top are uninitialised
  std::size_t depth_ = 0;
};

}  // namespace apps::sudoku
