// What both searches do in each position, besides trying its moves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "position.hpp"
#include "table.hpp"

namespace apps::connect4 {

struct limits {
  int table_mib = 0;
  int last = squares;  // positions with so many stones are only estimated
};

// A position in which the player cannot win at once, and whose score is asked for between alpha and
// beta: a score outside may be given as a bound. Either the score is `known` at once, or there are
// `moves` to try for the window that is left.
struct visit {
  int alpha, beta;
  int score = 0;
  move_list moves;
  bool known;

  // `g` is asked for its `last` and its `table` only where they matter.
  template <class Game>
  [[gnu::always_inline]] visit(const position& p, int stones, int low, int high, const Game& g)
      : alpha(low), beta(high), known(!begin(p, stones, g)) {}

  // Called with what trying the moves has found.
  [[gnu::always_inline]] int end(const position& p, int found, transposition_table& table) const {
    if (!table.empty()) {
      using bound = transposition_table::bound;
      table.store(p.key(),
                  found <= alpha  ? bound::upper
                  : found >= beta ? bound::lower
                                  : bound::exact,
                  found);
    }
    return found;
  }

private:
  // False if the score is known.
  template <class Game>
  [[gnu::always_inline]] bool begin(const position& p, int stones, const Game& g) {
    const bits tried = p.not_losing();
    if (tried == 0) return settle(lose_next(stones));
    if (stones >= squares - 2) return settle(0);
    if (stones >= g.last()) return settle(estimate(p, stones));
    if (!raise(least(stones)) || !lower(most(stones))) return false;
    if (const transposition_table& table = g.table(); !table.empty()) {
      const auto [what, value] = table.find(p.key());
      using bound = transposition_table::bound;
      if (what == bound::exact) return settle(value);
      if (what == bound::lower && !raise(value)) return false;
      if (what == bound::upper && !lower(value)) return false;
    }
    moves = move_list(p, tried);
    return true;
  }
  bool settle(int value) {
    score = value;
    return false;
  }

  // Bounds of the score: false if nothing is left of the window.
  bool raise(int bound) {
    alpha = std::max(alpha, bound);
    return alpha < beta || settle(bound);
  }
  bool lower(int bound) {
    beta = std::min(beta, bound);
    return alpha < beta || settle(bound);
  }
};

// The root's moves are compared with their places in the list: of several best ones the first is
// found, whoever finds which first. `of` makes one number of both.
struct ranked {
  static constexpr int places = 8;
  static int of(int score, int i) { return score * places + places - 1 - i; }
  static int score(int rank) { return rank >> 3; }
  static int place(int rank) { return places - 1 - (rank & 7); }
  // The highest score with which move i does not become the best.
  static int not_better(int best, int i) { return (best - (places - 1 - i)) >> 3; }
};

struct solution {
  int score;
  int column;           // the best move, from 0 on
  std::uint64_t nodes;  // positions visited
  // How many positions are visited depends on the division.
  friend bool operator==(const solution& a, const solution& b) {
    return a.score == b.score && a.column == b.column;
  }
};

// The solution that needs no search: the player wins at once, or whatever he does the opponent
// wins. Otherwise `column` is -1.
inline solution at_once(const position& p, int stones) {
  if (p.wins() != 0) return {win_now(stones), move_list(p, p.wins()).column(0), 1};
  if (p.not_losing() == 0) return {lose_next(stones), move_list(p, p.playable()).column(0), 1};
  return {0, -1, 1};
}

}  // namespace apps::connect4
