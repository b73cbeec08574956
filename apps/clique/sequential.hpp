// Maximum clique by branch and bound.
#pragma once

#include <cstdint>
#include <vector>

#include "colouring.hpp"

namespace apps::clique::sequential {

// The largest clique so far; or just a size, which only a larger clique replaces.
struct incumbent {
  int size = 0;
  std::vector<std::uint16_t> members;

  void offer(const std::vector<std::uint16_t>& path, int new_size) {
    if (new_size <= size) return;
    size = new_size;
    members.assign(path.begin(), path.begin() + new_size);
  }
};

// Extends the clique path[0..size) by `candidates`, its common neighbours. Returns the number of
// nodes visited. What is in `path` before `size` is left alone, so nothing has to be undone.
template <int Words>
std::uint64_t search(const ordered_graph<Words>& g, std::vector<std::uint16_t>& path, int size,
                     bits<Words> candidates, incumbent& best) {
  branches<Words> branch(g, candidates, best.size - size);
  std::uint64_t nodes = 1;
  for (int i = branch.first; i < branch.last; i++) {
    if (size + branch.bound[i] <= best.size) break;
    int v = branch.vertex[i];
    path[size] = static_cast<std::uint16_t>(v);
    bits<Words> next = candidates & g.neighbours[v];
    candidates.erase(v);
    if (next.empty()) best.offer(path, size + 1);
    else nodes += search(g, path, size + 1, next, best);
  }
  return nodes;
}

struct result {
  int size;
  std::uint64_t nodes;
  // The vertices, as numbered in `g`; empty if no clique is larger than the bound.
  std::vector<int> members;
};

// Looks for a clique of more than `bound` vertices.
inline result maximum_clique(const graph& g, int bound = 0) {
  return with_words(g.vertices, [&]<int Words>() {
    ordered_graph<Words> ordered(g);
    std::vector<std::uint16_t> path(g.vertices);
    incumbent best{bound, {}};
    result r{0, search(ordered, path, 0, ordered.all(), best), {}};
    r.size = best.size;
    for (auto v : best.members) r.members.push_back(ordered.original[v]);
    return r;
  });
}

}  // namespace apps::clique::sequential
