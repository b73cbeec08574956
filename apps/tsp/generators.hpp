// Instances that have a short definition.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../common/random.hpp"
#include "distances.hpp"
#include "instance.hpp"

namespace apps::tsp {

constexpr int square_side = 10'000;  // of random cities
constexpr int spacing = 1000;        // of a grid: so far is a city from its neighbours

inline instance of_points(const std::string& name, const std::vector<point>& at) {
  instance made(name, static_cast<int>(at.size()));
  for (int a = 0; a < made.cities; a++)
    for (int b = a + 1; b < made.cities; b++)
      made.set(a, b, static_cast<int>(euclidean(at[std::size_t(a)], at[std::size_t(b)])));
  return made;
}

// Cities with whole coordinates in a square, uniformly; equal in every run.
inline instance random_cities(int cities, std::uint64_t seed) {
  random_numbers next(seed);
  std::vector<point> at;
  for (int i = 0; i < cities; i++) {
    const double x = std::floor(square_side * next.fraction());
    at.push_back({x, std::floor(square_side * next.fraction())});
  }
  return of_points("random " + std::to_string(cities) + "," + std::to_string(seed), at);
}

// `side` rows of as many cities.
inline instance grid(int side) {
  std::vector<point> at;
  for (int row = 0; row < side; row++)
    for (int column = 0; column < side; column++)
      at.push_back({double(spacing) * column, double(spacing) * row});
  return of_points("grid " + std::to_string(side), at);
}

// The length of its shortest tours: each city is one step from the next, but for one diagonal step
// if their number is odd.
inline length_t shortest_of_grid(int side) {
  const length_t cities = length_t{side} * side;
  const auto diagonal = static_cast<length_t>(euclidean({0, 0}, {spacing, spacing}));
  return cities % 2 == 0 ? spacing * cities : spacing * (cities - 1) + diagonal;
}

// The instance that "CITIES,SEED" stands for; nothing if that is not its form.
inline std::optional<instance> random_cities(std::string_view text) {
  std::array<std::uint64_t, 2> value{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 2; i++) {
    const auto [stop, error] = std::from_chars(at, end, value[i]);
    if (error != std::errc() || (i == 0 ? stop == end || *stop != ',' : stop != end)) return {};
    at = stop + 1;
  }
  if (value[0] < least_cities || value[0] > most_cities) return {};
  return random_cities(static_cast<int>(value[0]), value[1]);
}

}  // namespace apps::tsp
