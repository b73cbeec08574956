// The search with its loop over the kinds of pieces marked: what is left of it can be given away,
// with a copy of the board as it was when the loop began.
#pragma once

#include <cleave/cleave.hpp>

#include "board.hpp"
#include "solutions.hpp"

namespace apps::pentomino::parallel {

using published_puzzle = cleave::published<puzzle>;

struct workspace : board {
  const published_puzzle* published;  // what z points to

  explicit workspace(const published_puzzle& p) : board(*p), published(&p) {}
  workspace(const published_puzzle& p, const position& x) : board(*p, x), published(&p) {}
};

// A piece of the search: tries the unused kinds first to last - 1 on the empty cell `at`.
solutions search_on(const published_puzzle& z, const position& x, int at, int first, int last);

template <class Board>
solutions search(Board& b, std::uint8_t* at, int first, int last) {
  return cleave::sum(
      first, last,
      [=, &b](int i, solutions& found, auto wind) {
        board::kind& kind = b.unused[i];
        for (const orientation& o : kind) {
          if (!b.fits(o, at)) [[likely]]
            continue;
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
        return cleave::call<search_on>(*b.published, b.where(), b.index(at), from, to);
      });
}

inline solutions search_on(const published_puzzle& z, const position& x, int at, int first,
                           int last) {
  workspace b(z, x);
  return search(b, b.cell(at), first, last);
}

inline solutions search(const published_puzzle& z) {
  workspace b(z);
  return search(b, b.cell(z->start), 0, b.kinds);
}

}  // namespace apps::pentomino::parallel
