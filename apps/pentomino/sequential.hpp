// All ways to cover a region: always the first empty cell, with every unused piece in every
// orientation. Figure 1 of the Tascell paper.
#pragma once

#include "board.hpp"
#include "solutions.hpp"

namespace apps::pentomino::sequential {

inline solutions search(const puzzle& z, board& b, int at, int first, int last) {
  if (at == z.end) return solved(z, b);
  solutions found;
  if (b.cramped(z, at)) return found;
  for (int i = first; i < last; i++) {
    int kind = b.unused[i];
    for (const orientation& piece : z.orientations_of(kind)) {
      if (!b.fits(z, piece, at)) continue;
      b.place(z, piece, at, i);
      found += search(z, b, b.next_empty(at), 0, b.kinds);
      b.remove(z, piece, at, i, kind);
    }
  }
  return found;
}

inline solutions search(const puzzle& z) {
  board b(z);
  return search(z, b, z.start, 0, b.kinds);
}

}  // namespace apps::pentomino::sequential
