// The search with its loop marked: what is left of a row can be given away.
#pragma once

#include <cleave/cleave.hpp>

#include <cstdint>

#include "board.hpp"

namespace apps::queens::parallel {

// This is a template only so as not to be inline: GCC would inline it into itself, and its loop
// variables would no longer fit registers.
template <class Board>
std::uint64_t search(Board& b, int row, int first, int last) {
  if (row == b.n) return 1;
  return cleave::sum(
      first, last,
      [=, &b](int i, std::uint64_t& found, auto wind) {
        if (!b.free(row, i)) [[likely]]
          return;
        found += wind([=, &b] { b.place(row, i); }, [=, &b] { return search(b, row + 1, 0, b.n); },
                      [=, &b] { b.remove(row, i); });
      },
      [=, &b](int from, int to) { return cleave::call<search<Board>>(b, row, from, to); });
}

inline std::uint64_t search(board& b) { return search(b, 0, 0, b.n); }

}  // namespace apps::queens::parallel
