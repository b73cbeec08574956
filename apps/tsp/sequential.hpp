// The shortest tour by branch and bound with 1-trees.
#pragma once

#include <cstdint>
#include <optional>

#include "root.hpp"
#include "workspace.hpp"

namespace apps::tsp::sequential {

// The shortest tour so far; or just a length, which only a shorter tour replaces.
struct incumbent {
  length_t length;
  tour cities;
};

// Returns the number of nodes visited.
inline std::uint64_t search(workspace& w, incumbent& best) {
  switch (w.raise(at_node, best.length)) {
    case workspace::verdict::closed: return 1;
    case workspace::verdict::solved:
      if (w.found_length() < best.length) best = {w.found_length(), w.found()};
      return 1;
    case workspace::verdict::open: break;
  }
  const branching b = w.branch(best.length);
  std::uint64_t nodes = 1;
  for (int i = 0; i < b.count; i++) {
    if (b.bound[std::size_t(i)] >= best.length) continue;
    w.push(b, i);
    nodes += search(w, best);
    w.pop();
  }
  return nodes;
}

inline result shortest_tour(const instance& cities, std::optional<length_t> start_from) {
  root r = begin_search(cities, start_from);
  incumbent best{r.best, r.shortest};
  std::uint64_t nodes = 0;
  if (!r.edges.edges.empty()) {
    workspace w(r.edges, r.begin);
    nodes = search(w, best);
  }
  return {best.length, best.cities, nodes, r.bound, r.best};
}

}  // namespace apps::tsp::sequential
