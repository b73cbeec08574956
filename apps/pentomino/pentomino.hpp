// The same search with its loop over the kinds of pieces marked: what is left of it can be given
// away, with a copy of the board as it was when the loop began.
#pragma once

#include <cleave/cleave.hpp>

#include "board.hpp"
#include "solutions.hpp"

namespace apps::pentomino::parallel {

template <class Board>
solutions search(const puzzle& z, Board& b, int at, int first, int last);

// The first to last - 1 of the unused kinds, on one empty cell. It stays in the process, which the
// puzzle belongs to.
struct piece_of_search {
  const puzzle* z;
  board b;
  int at, first, last;
  solutions run() { return search(*z, b, at, first, last); }
};

template <class Board>
solutions search(const puzzle& z, Board& b, int at, int first, int last) {
  if (at == z.end) return solved(z, b);
  if (b.cramped(z, at)) return {};
  return cleave::sum(
      first, last,
      [=, &z, &b](int i, solutions& found, auto wind) {
        auto kind = b.unused[i];
        for (const orientation& o : z.orientations_of(kind)) {
          if (!b.fits(z, o, at)) continue;
          found += wind([=, &z, &b, &o] { b.place(z, o, at, i); },
                        [=, &z, &b] { return search(z, b, b.next_empty(at), 0, b.kinds); },
                        [=, &z, &b, &o] { b.remove(z, o, at, i, kind); });
        }
      },
      [=, &z, &b](int from, int to) {
        return piece_of_search{&z, b, at, from, to};
      });
}

inline solutions search(const puzzle& z) {
  board b(z);
  return search(z, b, z.start, 0, b.kinds);
}

}  // namespace apps::pentomino::parallel
