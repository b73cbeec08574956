// The edges that a search may use, with weights to which each end adds a multiplier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "instance.hpp"

namespace apps::tsp {

// Lengths are counted in so small units that multipliers may be whole numbers, and small enough
// that sums of three of them fit into an int.
inline int units_of(const instance& cities) {
  int units = 1024;
  const int largest = *std::max_element(cities.lengths.begin(), cities.lengths.end());
  while (units > 1 && static_cast<std::int64_t>(units) * largest > 1 << 27) units /= 2;
  return units;
}

struct edge {
  std::uint16_t a, b;
  int weight;  // in units
  auto fields() { return std::tie(a, b, weight); }
};

struct graph {
  // An edge, as one of its ends sees it.
  struct neighbour {
    std::int32_t city, edge;
    auto fields() { return std::tie(city, edge); }
  };

  int cities = 0, units = 1;
  std::vector<edge> edges;
  std::vector<neighbour> neighbours;  // those of city 0, of city 1, …
  std::vector<std::int32_t> first;    // of each city; at the end their number

  auto fields() { return std::tie(cities, units, edges, neighbours, first); }

  graph() = default;
  graph(int number_of_cities, int units_of_a_length, std::vector<edge> given)
      : cities(number_of_cities), units(units_of_a_length), edges(std::move(given)) {
    std::vector<std::int32_t> degree(static_cast<std::size_t>(cities));
    for (const edge& e : edges) degree[e.a]++, degree[e.b]++;
    first.assign(1, 0);
    for (const auto d : degree) first.push_back(first.back() + d);
    neighbours.resize(2 * edges.size());
    std::vector<std::int32_t> next(first.begin(), first.end() - 1);
    for (std::size_t i = 0; i < edges.size(); i++) {
      const auto [a, b, weight] = edges[i];
      const auto number = static_cast<std::int32_t>(i);
      neighbours[std::size_t(next[a]++)] = {b, number};
      neighbours[std::size_t(next[b]++)] = {a, number};
    }
  }

  struct range {
    const neighbour *from, *to;
    const neighbour* begin() const { return from; }
    const neighbour* end() const { return to; }
  };
  range of(int city) const {
    const auto c = std::size_t(city);
    return {neighbours.data() + first[c], neighbours.data() + first[c + 1]};
  }
};

inline graph complete_graph(const instance& cities) {
  const int units = units_of(cities);
  std::vector<edge> all;
  for (int a = 0; a < cities.cities; a++)
    for (int b = a + 1; b < cities.cities; b++)
      all.push_back(
          {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), units * cities(a, b)});
  return graph(cities.cities, units, std::move(all));
}

}  // namespace apps::tsp
