// The same search with its loop over the kinds of pieces marked: what is left of it can be given
// away, with a copy of the board as it was when the loop began.
#pragma once

#include <cleave/cleave.hpp>

#include "board.hpp"
#include "solutions.hpp"

namespace apps::pentomino::parallel {

template <class Board>
solutions search(Board& b, std::uint8_t* at, int first, int last);

// The first to last - 1 of the unused kinds, on one empty cell. It stays in the process, which the
// board's puzzle belongs to.
struct piece_of_search {
  board b;
  int at, first, last;
  solutions run() { return search(b, b.cell(at), first, last); }
};

template <class Board>
solutions search(Board& b, std::uint8_t* at, int first, int last) {
  return cleave::sum(
      first, last,
      [=, &b](int i, solutions& found, auto wind) {
        board::kind& kind = b.unused[i];
        for (const orientation& o : kind) {
          if (!b.fits(o, at)) continue;
          found += wind([=, &b, &o, &kind] { b.place(o, at, kind); },
                        [=, &b] {
                          std::uint8_t* const next = b.next_empty(at);
                          if (b.full(next)) return solved(b);
                          return b.cramped(next) ? solutions() : search(b, next, 0, b.kinds);
                        },
                        [=, &b, &o, &kind] { b.remove(o, at, kind); });
        }
      },
      [=, &b](int from, int to) {
        return piece_of_search{b, b.index(at), from, to};
      });
}

inline solutions search(const puzzle& z) {
  board b(z);
  return search(b, b.cell(z.start), 0, b.kinds);
}

}  // namespace apps::pentomino::parallel
