// Alpha-beta: the score of a position by a search for the best move, without what cannot matter.
#pragma once

#include <algorithm>
#include <cstdint>

#include "visit.hpp"

namespace apps::connect4::sequential {

class game {
public:
  explicit game(const limits& l) : table_(l.table_mib), last_(l.last) {}
  int last() const { return last_; }
  const transposition_table& table() const { return table_; }
  transposition_table& table() { return table_; }

  std::uint64_t nodes = 0;

private:
  transposition_table table_;
  int last_;
};

inline int search(game& g, position p, int stones, int low, int high) {
  g.nodes++;
  const visit v(p, stones, low, high, g);
  if (v.known) return v.score;
  int best = worst;
  for (int i = 0; i < v.moves.count(); i++) {
    const position next = p.after(v.moves.move(p, i));
    best = std::max(best, -search(g, next, stones + 1, -v.beta, -std::max(v.alpha, best)));
    if (best >= v.beta) break;
  }
  return v.end(p, best, g.table());
}

inline solution solve(game& g, position p, int stones) {
  if (const solution found = at_once(p, stones); found.column >= 0) return found;
  const move_list moves(p, p.not_losing());
  int best = ranked::of(worst, 0);
  for (int i = 0; i < moves.count(); i++) {
    const int low = ranked::not_better(best, i);
    const int score =
        -search(g, p.after(moves.move(p, i)), stones + 1, worst, -std::max(low, worst));
    best = std::max(best, ranked::of(score, i));
  }
  return {ranked::score(best), moves.column(ranked::place(best)), g.nodes + 1};
}

}  // namespace apps::connect4::sequential
