// All ways to cover a region: always the first empty cell, with every unused piece in every
// orientation. Figure 1 of the Tascell paper.
#pragma once

#include "board.hpp"
#include "solutions.hpp"

namespace apps::pentomino::sequential {

inline solutions search(board& b, std::uint8_t* at, int first, int last) {
  solutions found;
  for (int i = first; i < last; i++) {
    board::kind& kind = b.unused[i];
    for (const orientation& o : kind) {
      if (!b.fits(o, at)) [[likely]]
        continue;
      b.place(o, at, kind);
      std::uint8_t* const next = b.next_empty(at);
      if (b.full(next)) found += solved(b);
      else if (!b.cramped(next)) found += search(b, next, 0, b.kinds);
      b.remove(o, at, kind);
    }
  }
  return found;
}

inline solutions search(const puzzle& z) {
  board b(z);
  return search(b, b.cell(z.start), 0, b.kinds);
}

}  // namespace apps::pentomino::sequential
