// The search for a maximum clique with the loop over a node's branches marked. The bound is shared
// by all workers, together with the clique that proves it.
#pragma once

#include <cleave/cleave.hpp>
#include <cstdint>
#include <vector>

#include "colouring.hpp"

namespace apps::clique::parallel {

using clique = std::vector<std::uint16_t>;
using incumbent = cleave::shared<int, cleave::max, clique>;

template <int words>
using published_graph = cleave::published<ordered_graph<words>>;

template <int words>
std::uint64_t extend(const published_graph<words>& published, clique& path, int size,
                     const bits<words>& candidates, const branches<words>& branch, int first,
                     int last, incumbent& best);

// A part of extend() as a task.
template <int words>
std::uint64_t part(const published_graph<words>& g, clique& path, int size,
                   const bits<words>& candidates, const branches<words>& branch, int first,
                   int last, const cleave::shared_ref<incumbent>& best) {
  return extend(g, path, size, candidates, branch, first, last, *best);
}

// Extends the clique path[0..size) by `candidates`, its common neighbours. Returns the number of
// nodes visited. What is in `path` before `size` is left alone, so nothing has to be undone.
template <int words>
std::uint64_t search(const published_graph<words>& g, clique& path, int size,
                     const bits<words>& candidates, incumbent& best) {
  branches<words> branch(*g, candidates, best.get() - size);
  return 1 + extend(g, path, size, candidates, branch, branch.first, branch.last, best);
}

// Searches the branches first to last - 1. Those before have been searched: their vertices are no
// candidates.
template <int words>
std::uint64_t extend(const published_graph<words>& published, clique& path, int size,
                     const bits<words>& candidates, const branches<words>& branch, int first,
                     int last, incumbent& best) {
  const ordered_graph<words>& g = *published;
  bits<words> left = candidates;
  for (int i = branch.first; i < first; i++) left.erase(branch.vertex[i]);
  return cleave::sum(
      first, last,
      [=, &g, &published, &path, &branch, &left, &best](int i) -> std::uint64_t {
        if (size + branch.bound[i] <= best.get()) return 0;
        int v = branch.vertex[i];
        path[size] = static_cast<std::uint16_t>(v);
        bits<words> next = left & g.neighbours[v];
        left.erase(v);
        if (!next.empty()) return search(published, path, size + 1, next, best);
        best.offer(size + 1, path);
        return 0;
      },
      [=, &published, &path, &candidates, &branch, &best](int from, int to) {
        return cleave::call<part<words>>(published, path, size, candidates, branch, from, to, best);
      });
}

struct result {
  int size;
  std::uint64_t nodes;
  // The vertices, as numbered in `g`; empty if no clique is larger than the bound.
  std::vector<int> members;
  // Which of several cliques is found, and how soon, depends on the division.
  friend bool operator==(const result& a, const result& b) { return a.size == b.size; }
};

// Looks for a clique of more than `bound` vertices.
inline result maximum_clique(const graph& g, int bound = 0) {
  return with_words(g.vertices, [&]<int words>() {
    const published_graph<words> ordered{ordered_graph<words>(g)};
    clique path(g.vertices);
    incumbent best(bound);
    result r{0, search(ordered, path, 0, ordered->all(), best), {}};
    auto [size, members] = best.best();
    r.size = size;
    if (members)
      for (int i = 0; i < size; i++) r.members.push_back(ordered->original[(*members)[i]]);
    return r;
  });
}

}  // namespace apps::clique::parallel
