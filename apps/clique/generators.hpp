// Graphs of the DIMACS challenge that have a short definition, and random ones.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../common/random.hpp"
#include "graph.hpp"

namespace apps::clique {

// The graph whose edges are all pairs of `points` that are related.
template <class Point, class Relation>
graph graph_of(const std::vector<Point>& points, Relation related) {
  graph g;
  g.vertices = static_cast<int>(points.size());
  for (int u = 0; u < g.vertices; u++)
    for (int v = u + 1; v < g.vertices; v++)
      if (related(points[u], points[v])) g.edges.emplace_back(u, v);
  return g;
}

inline int hamming_distance(unsigned a, unsigned b) { return std::popcount(a ^ b); }

// Hamming's graph: words of `bits` bits that differ in at least `distance` of them.
inline graph hamming(int bits, int distance) {
  std::vector<unsigned> words(std::size_t{1} << bits);
  std::iota(words.begin(), words.end(), 0u);
  return graph_of(words, [=](auto a, auto b) { return hamming_distance(a, b) >= distance; });
}

// Johnson's graph: as hamming(), but only of the words with `weight` ones.
inline graph johnson(int bits, int weight, int distance) {
  std::vector<unsigned> words;
  for (unsigned word = 0; word < 1u << bits; word++)
    if (std::popcount(word) == weight) words.push_back(word);
  return graph_of(words, [=](auto a, auto b) { return hamming_distance(a, b) >= distance; });
}

// Keller's graph: words of `dimension` digits 0 to 3 that differ in at least two digits, in one
// of them by exactly 2 (modulo 4). DIMACS has the neighbours of one vertex, as all look alike.
inline graph keller(int dimension) {
  auto adjacent = [=](unsigned a, unsigned b) {
    int different = 0;
    bool opposite = false;
    for (int digit = 0; digit < dimension; digit++) {
      unsigned difference = ((a >> 2 * digit) - (b >> 2 * digit)) & 3;
      different += difference != 0;
      opposite |= difference == 2;
    }
    return different >= 2 && opposite;
  };
  std::vector<unsigned> words;
  for (unsigned word = 0; word < 1u << 2 * dimension; word++)
    if (adjacent(0, word)) words.push_back(word);
  return graph_of(words, adjacent);
}

// The Steiner triple covering problem on 3^dimension points as a clique problem (Mannino and
// Sassano): a vertex for each point that is left out of the cover, and one for each point of
// each triple that covers the triple. Triples are the lines of the affine space over GF(3).
inline graph mann(int dimension) {
  struct vertex {
    int triple, point;  // triple -1: the point is left out
  };
  int points = 1;
  for (int i = 0; i < dimension; i++) points *= 3;
  auto third = [](int a, int b) {  // on the line through a and b
    int c = 0;
    for (int place = 1; a > 0 || b > 0; a /= 3, b /= 3, place *= 3)
      c += (6 - a % 3 - b % 3) % 3 * place;
    return c;
  };
  std::vector<vertex> choices;
  choices.reserve(static_cast<std::size_t>(points) * points);
  for (int point = 0; point < points; point++) choices.push_back({-1, point});
  int triples = 0;
  for (int a = 0; a < points; a++)
    for (int b = a + 1; b < points; b++)
      if (int c = third(a, b); c > b) {
        for (int point : {a, b, c}) choices.push_back({triples, point});
        triples++;
      }
  return graph_of(choices, [](const vertex& a, const vertex& b) {
    if (a.triple == b.triple) return a.triple == -1;
    return a.point != b.point || (a.triple != -1 && b.triple != -1);
  });
}

// Each pair with the same probability; equal in every run.
inline graph random_graph(int vertices, double probability, std::uint64_t seed) {
  std::vector<int> all(vertices);
  random_numbers next(seed);
  return graph_of(all, [&](int, int) { return next.fraction() < probability; });
}

struct named_graph {
  std::string_view name;
  int largest_clique;
  graph (*make)();
};

inline constexpr named_graph named_graphs[] = {
    {"keller4", 11, [] { return keller(4); }},
    {"hamming8-4", 16, [] { return hamming(8, 4); }},
    {"johnson8-4-4", 14, [] { return johnson(8, 4, 4); }},
    {"MANN_a9", 16, [] { return mann(2); }},
    {"MANN_a27", 126, [] { return mann(3); }},
};

// A graph by its DIMACS name, or "random:VERTICES:PERCENT:SEED"; nothing if there is none.
inline std::optional<graph> generate(std::string_view name) {
  for (const named_graph& each : named_graphs)
    if (each.name == name) return each.make();
  constexpr std::string_view prefix = "random:";
  if (name.substr(0, prefix.size()) != prefix) return {};
  std::uint64_t value[3] = {};
  const char* at = name.data() + prefix.size();
  const char* end = name.data() + name.size();
  for (int i = 0; i < 3; i++) {
    auto [stop, error] = std::from_chars(at, end, value[i]);
    if (error != std::errc() || (i < 2 ? stop == end || *stop != ':' : stop != end)) return {};
    at = stop + 1;
  }
  if (value[0] < 1 || value[0] > max_vertices || value[1] > 100) return {};
  return random_graph(static_cast<int>(value[0]), static_cast<double>(value[1]) / 100, value[2]);
}

}  // namespace apps::clique
