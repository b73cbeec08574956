// Cities, the lengths between them, and tours of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace apps::tsp {

constexpr int least_cities = 3, most_cities = 4000;
constexpr int longest = 100'000'000;  // from one city to another

using length_t = std::int64_t;  // of a tour

struct instance {
  std::string name;
  int cities = 0;
  std::vector<int> lengths;  // row after row, symmetric

  instance() = default;
  instance(std::string called, int n)
      : name(std::move(called)),
        cities(n),
        lengths(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}

  auto fields() { return std::tie(name, cities, lengths); }

  int operator()(int a, int b) const { return lengths[index(a, b)]; }
  void set(int a, int b, int length) { lengths[index(a, b)] = lengths[index(b, a)] = length; }

private:
  std::size_t index(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(cities) +
           static_cast<std::size_t>(b);
  }
};

// The cities, from 0 on, in the order in which they are visited.
using tour = std::vector<std::uint16_t>;

inline tour first_to_last(int cities) {
  tour t(static_cast<std::size_t>(cities));
  std::iota(t.begin(), t.end(), std::uint16_t{0});
  return t;
}

inline length_t length_of(const instance& cities, const tour& t) {
  length_t sum = cities(t.back(), t.front());
  for (std::size_t i = 1; i < t.size(); i++) sum += cities(t[i - 1], t[i]);
  return sum;
}

inline bool is_tour(const instance& cities, const tour& t) {
  tour sorted = t;
  std::sort(sorted.begin(), sorted.end());
  return sorted == first_to_last(cities.cities);
}

// The same tour from city 0 on, in the direction of the lower one of its two neighbours.
inline tour normalized(tour t) {
  std::rotate(t.begin(), std::find(t.begin(), t.end(), 0), t.end());
  if (t[1] > t.back()) std::reverse(t.begin() + 1, t.end());
  return t;
}

}  // namespace apps::tsp
