// Alpha-beta with the loop over a position's moves marked: as soon as the first move has a score,
// the others can be given away, and each is searched with the best score that anybody has found.
#pragma once

#include <cleave/cleave.hpp>
#include <cleave/reduce_until.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <tuple>

#include "visit.hpp"

namespace apps::connect4::parallel {

using best_score = cleave::shared<int, cleave::max>;

// What all tasks of one search use. On each node it is made when the first of them comes there,
// with a table of its own.
class game {
public:
  game() = default;
  explicit game(const limits& l) : limits_(l) {}
  auto fields() { return std::tie(limits_.table_mib, limits_.last); }

  int last() const { return limits_.last; }
  transposition_table& table() const {
    std::call_once(made_, [this] { table_.emplace(limits_.table_mib); });
    return *table_;
  }

private:
  limits limits_;
  // The search is the same without what is in the table.
  mutable std::once_flag made_;
  mutable std::optional<transposition_table> table_;
};
using published_game = cleave::published<game>;

// The game as one task sees it, which has looked for it once.
class player {
public:
  explicit player(const published_game& g) : published(&g), table_(&g->table()), last_(g->last()) {}
  int last() const { return last_; }
  transposition_table& table() const { return *table_; }

  const published_game* published;

private:
  transposition_table* table_;
  int last_;
};

// How many positions this thread has visited and not yet counted.
inline constinit thread_local std::uint64_t visited = 0;
// Counts them when a task ends. Those of tasks that another node runs are not counted.
struct count_nodes {
  static inline std::atomic<std::uint64_t> all{0};
  ~count_nodes() {
    all.fetch_add(visited, std::memory_order_relaxed);
    visited = 0;
  }
};

int search(const player& a, bits own, bits all, int stones, int low, int high);

// Moves `first` to `last` - 1 of a position, as a task.
int some_moves(const published_game& g, position p, move_list moves, int stones, int alpha,
               int beta, int first, int last, const cleave::shared_ref<best_score>& best);

inline auto try_move(const player& a, position p, move_list moves, int stones, int alpha,
                     int beta) {
  return [=, &a, own = p.own, all = p.all](int i, int best) {
    const position now{own, all};
    const position next = now.after(moves.move(now, i));
    return -search(a, next.own, next.all, stones + 1, -beta, -std::max(alpha, best));
  };
}
inline auto give_moves(const player& a, position p, move_list moves, int stones, int alpha,
                       int beta) {
  return [=, &a, own = p.own, all = p.all](int from, int to, cleave::shared_ref<best_score> best) {
    return cleave::call<some_moves>(*a.published, position{own, all}, moves, stones, alpha, beta,
                                    from, to, best);
  };
}

[[gnu::noinline]] inline int search(const player& a, bits own, bits all, int stones, int low,
                                    int high) {
  visited++;
  const position p{own, all};
  const visit v(p, stones, low, high, a);
  if (v.known) return v.score;
  const int alpha = v.alpha, beta = v.beta;
  const int found = cleave::reduce_until(
      0, v.moves.count(), worst, try_move(a, p, v.moves, stones, alpha, beta), cleave::max(),
      [=](int best) { return best >= beta; }, give_moves(a, p, v.moves, stones, alpha, beta));
  return v.end(p, found, a.table());
}

inline int some_moves(const published_game& g, position p, move_list moves, int stones, int alpha,
                      int beta, int first, int last, const cleave::shared_ref<best_score>& best) {
  const count_nodes at_the_end;
  const player a(g);
  return cleave::reduce_until(
      first, last, best, try_move(a, p, moves, stones, alpha, beta),
      [=](int so_far) { return so_far >= beta; }, give_moves(a, p, moves, stones, alpha, beta));
}

// The same of the root, whose moves are ranked.
inline auto try_root_move(const player& a, position p, move_list moves, int stones) {
  return [=, &a](int i, int best) {
    const int low = std::max(ranked::not_better(best, i), worst);
    const position next = p.after(moves.move(p, i));
    return ranked::of(-search(a, next.own, next.all, stones + 1, worst, -low), i);
  };
}
int some_root_moves(const published_game& g, position p, move_list moves, int stones, int first,
                    int last, const cleave::shared_ref<best_score>& best);
inline auto give_root_moves(const player& a, position p, move_list moves, int stones) {
  return [=, &a](int from, int to, cleave::shared_ref<best_score> best) {
    return cleave::call<some_root_moves>(*a.published, p, moves, stones, from, to, best);
  };
}
inline bool never_enough(int) { return false; }
inline int some_root_moves(const published_game& g, position p, move_list moves, int stones,
                           int first, int last, const cleave::shared_ref<best_score>& best) {
  const count_nodes at_the_end;
  const player a(g);
  return cleave::reduce_until(first, last, best, try_root_move(a, p, moves, stones), never_enough,
                              give_root_moves(a, p, moves, stones));
}

inline solution solve(const published_game& g, position p, int stones) {
  if (const solution found = at_once(p, stones); found.column >= 0) return found;
  const move_list moves(p, p.not_losing());
  const std::uint64_t before = count_nodes::all;
  int best = 0;
  {
    const count_nodes at_the_end;
    const player a(g);
    best = cleave::reduce_until(0, moves.count(), ranked::of(worst, 0),
                                try_root_move(a, p, moves, stones), cleave::max(), never_enough,
                                give_root_moves(a, p, moves, stones));
  }
  return {ranked::score(best), moves.column(ranked::place(best)), count_nodes::all - before + 1};
}

}  // namespace apps::connect4::parallel
