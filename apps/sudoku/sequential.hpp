// Tries all digits of an empty cell that has few.
#pragma once

#include <cstdint>

#include "result.hpp"
#include "workspace.hpp"

namespace apps::sudoku::sequential {

// Calls found(grid) with each solution, until it returns true. Returns whether it has.
template <class Found>
bool search(workspace& w, Found& found) {
  if (w.top().solved()) return found(w.top());
  const grid::choice c = w.top().next();
  bool enough = false;
  for (int i = 0; i < c.count && !enough; i++) {
    w.push(c.cell, c.digit(i));
    enough = !w.top().dead() && search(w, found);
    w.pop();
  }
  return enough;
}

inline result solve(const digits& puzzle, question asked) {
  workspace w{grid(puzzle)};
  result r;
  auto found = [&](const grid& g) {
    r.solutions++;
    if (asked == question::first) r.first = g.solution();
    return asked == question::first || (asked == question::unique && r.solutions == 2);
  };
  if (!w.top().dead()) search(w, found);
  return r;
}

inline results solve(const puzzles& all, question asked) {
  results found;
  for (const digits& each : all) found.push_back(solve(each, asked));
  return found;
}

}  // namespace apps::sudoku::sequential
