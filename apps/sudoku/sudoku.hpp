// The search with its loop over the digits of a cell marked, in three forms: the first solution
// (find_first), all (sum), and whether there are two (reduce_until). What is left of a loop can be
// given away, with a copy of the grid as it was when the loop began.
#pragma once

#include <cleave/cleave.hpp>
#include <cleave/find.hpp>
#include <cleave/reduce_until.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "result.hpp"
#include "workspace.hpp"

namespace apps::sudoku::parallel {

// The digits of a solution, or none. Each loop returns one, most often nothing: so it is small.
struct solution {
  std::vector<std::uint8_t> its;
  explicit operator bool() const { return !its.empty(); }
  auto fields() { return std::tie(its); }
};

// Digits `first` to `last` - 1 of a choice, and all that follows.
solution find_part(const grid& g, const grid::choice& c, int first, int last);
std::uint64_t count_part(const grid& g, const grid::choice& c, int first, int last);

// ---- the first solution

inline solution solution_of(const grid& g) {
  const digits all = g.solution();
  return {{all.begin(), all.end()}};
}

template <class Workspace>
solution find(Workspace& w, const grid::choice& c, int first, int last) {
  return cleave::find_first(
      first, last,
      [=, &w](int i, auto wind) {
        return wind([=, &w] { w.push(c.cell, c.digit(i)); },
                    [&w] {
                      const grid& g = w.top();
                      if (g.dead()) return solution();
                      if (g.solved()) return solution_of(g);
                      const grid::choice next = g.next();
                      return find(w, next, 0, next.count);
                    },
                    [&w] { w.pop(); });
      },
      [=, &w](int from, int to) { return cleave::call<find_part>(w.top(), c, from, to); });
}
inline solution find_part(const grid& g, const grid::choice& c, int first, int last) {
  workspace w(g);
  return find(w, c, first, last);
}

// ---- all solutions

template <class Workspace>
std::uint64_t count(Workspace& w, const grid::choice& c, int first, int last) {
  return cleave::sum(
      first, last,
      [=, &w](int i, std::uint64_t& found, auto wind) {
        found += wind([=, &w] { w.push(c.cell, c.digit(i)); },
                      [&w]() -> std::uint64_t {
                        const grid& g = w.top();
                        if (g.dead()) return 0;
                        if (g.solved()) return 1;
                        const grid::choice next = g.next();
                        return count(w, next, 0, next.count);
                      },
                      [&w] { w.pop(); });
      },
      [=, &w](int from, int to) { return cleave::call<count_part>(w.top(), c, from, to); });
}
inline std::uint64_t count_part(const grid& g, const grid::choice& c, int first, int last) {
  workspace w(g);
  return count(w, c, first, last);
}

// ---- whether there is more than one

// What is known of the solutions below a loop: none; all below one of its iterations, by number; or
// several. To merge these is idempotent, which a sum is not: a part counts once, however often it
// is told.
constexpr int none = -1, several = 1 << 10;
struct unite {
  constexpr int operator()(int a, int b) const {
    if (a == none || a == b) return b;
    return b == none ? a : several;
  }
};
using known = cleave::shared<int, unite>;

int unite_part(const grid& g, const grid::choice& c, int first, int last,
               const cleave::shared_ref<known>& state);

template <class Workspace>
auto try_digit(Workspace& w, const grid::choice& c);
template <class Workspace>
auto give_digits(Workspace& w, const grid::choice& c) {
  return [=, &w](int from, int to, cleave::shared_ref<known> state) {
    return cleave::call<unite_part>(w.top(), c, from, to, state);
  };
}
inline constexpr auto are_several = [](int so_far) { return so_far == several; };

template <class Workspace>
int solutions_of(Workspace& w, const grid::choice& c) {
  return cleave::reduce_until(0, c.count, none, try_digit(w, c), unite(), are_several,
                              give_digits(w, c));
}
template <class Workspace>
auto try_digit(Workspace& w, const grid::choice& c) {
  return [=, &w](int i, int, auto wind) {
    return wind([=, &w] { w.push(c.cell, c.digit(i)); },
                [=, &w] {
                  const grid& g = w.top();
                  if (g.dead()) return none;
                  if (g.solved()) return i;
                  const int below = solutions_of(w, g.next());
                  return below == none || below == several ? below : i;
                },
                [&w] { w.pop(); });
  };
}
inline int unite_part(const grid& g, const grid::choice& c, int first, int last,
                      const cleave::shared_ref<known>& state) {
  workspace w(g);
  return cleave::reduce_until(first, last, state, try_digit(w, c), are_several, give_digits(w, c));
}

// ---- puzzles

inline result solve(const digits& puzzle, question asked) {
  workspace w{grid(puzzle)};
  if (w.top().dead()) return {};
  if (w.top().solved()) return {1, asked == question::first ? w.top().solution() : digits{}};
  const grid::choice c = w.top().next();
  switch (asked) {
    case question::all: return {count(w, c, 0, c.count), {}};
    case question::unique: {
      const int found = solutions_of(w, c);
      return {found == none ? 0u : found == several ? 2u : 1u, {}};
    }
    case question::first: break;
  }
  result r;
  if (const solution found = find(w, c, 0, c.count)) {
    r.solutions = 1;
    std::ranges::copy(found.its, r.first.begin());
  }
  return r;
}

using published_puzzles = cleave::published<puzzles>;

// The results of puzzles `first` to `last` - 1, and where they belong.
struct results_from {
  int first;
  results all;
};

inline results_from solve_part(const published_puzzles& given, question asked, int first,
                               int last) {
  results found(static_cast<std::size_t>(last - first));
  cleave::each(
      first, last,
      [&, first](int i) { found[std::size_t(i - first)] = solve((*given)[std::size_t(i)], asked); },
      [&, asked](int from, int to) { return cleave::call<solve_part>(given, asked, from, to); },
      [&, first](const results_from& part) {
        std::copy(part.all.begin(), part.all.end(), found.begin() + (part.first - first));
      });
  return {first, std::move(found)};
}
inline results solve(const published_puzzles& all, question asked) {
  return solve_part(all, asked, 0, static_cast<int>(all->size())).all;
}

}  // namespace apps::sudoku::parallel
