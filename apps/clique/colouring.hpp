// Bounds for maximum clique by colouring greedily with bit sets: San Segundo, Rodriguez-Losada
// and Jimenez, "An exact bit-parallel algorithm for the maximum clique problem" (2011), after
// Tomita. A clique has at most one vertex of each colour.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "bits.hpp"
#include "graph.hpp"

namespace apps::clique {

// The graph with its vertices in the order in which they are coloured: those of low degree last,
// as what remains without them is then small.
template <int Words>
struct ordered_graph {
  std::vector<bits<Words>> neighbours;
  std::vector<int> original;  // numbers in the graph that was given

  auto fields() { return std::tie(neighbours, original); }

  ordered_graph() = default;
  explicit ordered_graph(const graph& g) : neighbours(g.vertices), original(g.vertices) {
    std::vector<std::vector<char>> adjacent(g.vertices, std::vector<char>(g.vertices));
    for (auto [u, v] : g.edges) adjacent[u][v] = adjacent[v][u] = 1;
    std::vector<int> degree(g.vertices);
    for (int v = 0; v < g.vertices; v++)
      degree[v] = static_cast<int>(std::count(adjacent[v].begin(), adjacent[v].end(), 1));

    constexpr int taken = max_vertices;
    for (int place = g.vertices - 1; place >= 0; place--) {
      auto least = std::min_element(degree.begin(), degree.end());
      int v = static_cast<int>(least - degree.begin());
      original[place] = v;
      *least = taken;
      for (int u = 0; u < g.vertices; u++)
        if (adjacent[v][u] && degree[u] != taken) degree[u]--;
    }
    for (int i = 0; i < g.vertices; i++)
      for (int j = 0; j < g.vertices; j++)
        if (adjacent[original[i]][original[j]]) neighbours[i].insert(j);
  }

  bits<Words> all() const {
    bits<Words> set;
    for (std::size_t v = 0; v < neighbours.size(); v++) set.insert(static_cast<int>(v));
    return set;
  }
};

// The vertices of a node to branch on, from `first` to `last`, the most promising one first.
template <int Words>
struct branches {
  static constexpr int last = bits<Words>::capacity;

  int first = last;
  std::uint16_t vertex[last];
  std::uint16_t bound[last];  // no larger clique among this vertex and those after it

  auto fields() { return std::tie(first, vertex, bound); }

  branches() = default;
  // Colours `candidates`. Those that get one of the first `needless` colours are left out: they
  // cannot form a large enough clique among themselves.
  branches(const ordered_graph<Words>& g, const bits<Words>& candidates, int needless) {
    bits<Words> uncoloured = candidates;
    for (int colour = 1, start = 0; start < Words; colour++) {
      bits<Words> possible = uncoloured;
      for (int w = start; w < Words; w++) {
        std::uint64_t here = possible.word[w];
        while (here != 0) {
          int v = 64 * w + std::countr_zero(here);
          here &= here - 1;
          here &= ~g.neighbours[v].word[w];
          for (int i = w + 1; i < Words; i++) possible.word[i] &= ~g.neighbours[v].word[i];
          uncoloured.erase(v);
          if (colour > needless) {
            first--;
            vertex[first] = static_cast<std::uint16_t>(v);
            bound[first] = static_cast<std::uint16_t>(colour);
          }
        }
      }
      while (start < Words && uncoloured.word[start] == 0) start++;
    }
  }
};

}  // namespace apps::clique
