// The search for a shortest tour with the loop over a node's branches marked. The bound is shared
// by all workers, together with the tour that proves it.
#pragma once

#include <cleave/cleave.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "root.hpp"
#include "workspace.hpp"

namespace apps::tsp::parallel {

using incumbent = cleave::shared<length_t, cleave::min, tour>;
using published_graph = cleave::published<graph>;

std::uint64_t part(const published_graph& g, const node_state& begin, const branching& b, int first,
                   int last, const cleave::shared_ref<incumbent>& best);

std::uint64_t search(const published_graph& g, workspace& w, incumbent& best);

// Branches `first` to `last` - 1 of a node. Returns the number of nodes visited.
inline std::uint64_t search_branches(const published_graph& g, workspace& w, const branching& b,
                                     int first, int last, incumbent& best) {
  return cleave::sum(
      first, last,
      [&](int i, std::uint64_t& nodes, auto wind) {
        if (b.bound[std::size_t(i)] >= best.get()) return;
        nodes += wind([&w, &b, i] { w.push(b, i); }, [&] { return search(g, w, best); },
                      [&w] { w.pop(); });
      },
      [&](int from, int to) { return cleave::call<part>(g, w.top(), b, from, to, best); });
}

inline std::uint64_t search(const published_graph& g, workspace& w, incumbent& best) {
  switch (w.raise(at_node, best.get())) {
    case workspace::verdict::closed: return 1;
    case workspace::verdict::solved:
      if (w.found_length() < best.get()) best.offer(w.found_length(), w.found());
      return 1;
    case workspace::verdict::open: break;
  }
  const branching b = w.branch(best.get());
  return 1 + search_branches(g, w, b, 0, b.count, best);
}

inline std::uint64_t part(const published_graph& g, const node_state& begin, const branching& b,
                          int first, int last, const cleave::shared_ref<incumbent>& best) {
  workspace w(*g, begin);
  return search_branches(g, w, b, first, last, *best);
}

inline result shortest_tour(const instance& cities, std::optional<length_t> start_from) {
  root r = begin_search(cities, start_from);
  result found{r.best, r.shortest, 0, r.bound, r.best};
  if (r.edges.edges.empty()) return found;
  incumbent best(r.best);
  const published_graph g(std::move(r.edges));
  workspace w(*g, r.begin);
  found.nodes = search(g, w, best);
  auto [length, shorter] = best.best();
  found.length = length;
  found.searched_in_vain = !shorter;
  if (shorter) found.shortest = *std::move(shorter);
  return found;
}

}  // namespace apps::tsp::parallel
