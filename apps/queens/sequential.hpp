// All ways to place n queens: every column of every row in order, one board changed in place.
#pragma once

#include <cstdint>

#include "board.hpp"

namespace apps::queens::sequential {

inline std::uint64_t search(board& b, int row, int first, int last) {
  if (row == b.n) return 1;
  std::uint64_t solutions = 0;
  for (int i = first; i < last; i++) {
    if (!b.free(row, i)) continue;
    b.place(row, i);
    solutions += search(b, row + 1, 0, b.n);
    b.remove(row, i);
  }
  return solutions;
}

inline std::uint64_t search(board& b) { return search(b, 0, 0, b.n); }

}  // namespace apps::queens::sequential
