// What comes before the search, in both programs: a short tour, the bound of the root, and the
// edges that a shorter tour may have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph.hpp"
#include "instance.hpp"
#include "start.hpp"
#include "workspace.hpp"

namespace apps::tsp {

inline constexpr ascent at_node{30, 0.5, 0.7, 2};

struct root {
  length_t best;  // only shorter tours are looked for
  tour shortest;  // of that length, if there is one
  length_t bound = 0;
  graph edges = {};  // none if there is no shorter tour
  node_state begin = {};
};

struct result {
  length_t length;
  tour shortest;  // empty if there is none that is shorter than the length to start from
  std::uint64_t nodes;
  length_t root_bound;
  length_t first;  // the length before the search
  bool searched_in_vain = false;
  // Which of several tours is found, and how soon, depends on the division; where none is found,
  // the search is the same.
  friend bool operator==(const result& a, const result& b) {
    return a.length == b.length &&
           (!a.searched_in_vain || !b.searched_in_vain || a.nodes == b.nodes);
  }
};

// Begins with a tour of `start_from`, which is not known, or finds one.
inline root begin_search(const instance& cities, std::optional<length_t> start_from) {
  root r{start_from.value_or(0), {}};
  if (!start_from) {
    r.shortest = short_tour(cities);
    r.best = length_of(cities, r.shortest);
  }
  const graph all = complete_graph(cities);
  workspace w(all, {{}, std::vector<int>(static_cast<std::size_t>(cities.cities))});
  const auto found = w.raise_root(std::clamp(200'000 / cities.cities, 200, 1600), r.best);
  r.bound = std::min(w.bound(), r.best);
  if (found == workspace::verdict::solved) {
    const tour t = w.found();
    r.bound = length_of(cities, t);
    if (r.bound < r.best) {
      r.best = r.bound;
      r.shortest = t;
    }
    return r;
  }
  if (found == workspace::verdict::closed) {
    r.bound = r.best;
    return r;
  }
  w.branch(r.best);
  std::vector<edge> kept;
  for (std::size_t e = 0; e < all.edges.size(); e++)
    if (w.may_be_used(static_cast<std::int32_t>(e), r.best)) kept.push_back(all.edges[e]);
  r.edges = graph(all.cities, all.units, std::move(kept));
  r.begin = {{}, w.top().multipliers};
  return r;
}

}  // namespace apps::tsp
