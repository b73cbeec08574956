// From a random tour to one that random changes hardly make shorter. Source: H. Okuno, Fast
// parallel processing by workstation clusters (1998, in Japanese, hdl.handle.net/10119/1123),
// section 4.4.1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../common/random.hpp"
#include "instance.hpp"

namespace apps::tsp {

class descent {
public:
  // Begins with a random tour. The same `seed` gives the same one, and the same changes. A change
  // makes the tour longer by at most `most`: 0, or -1.
  descent(const instance& cities, std::uint64_t seed, int most)
      : cities_(cities), most_(most), next_(seed), tour_(first_to_last(cities.cities)) {
    for (std::size_t i = tour_.size() - 1; i > 0; i--)
      std::swap(tour_[i], tour_[std::size_t(below(static_cast<int>(i) + 1))]);
  }

  // Draws a segment, and by a coin where it goes: back, the other way round, or between two other
  // cities. Undoes this if the tour is longer. Returns whether it is shorter.
  bool change() {
    const int n = cities_.cities;
    int first = below(n), last = below(n);
    if (first > last) std::swap(first, last);
    if (last - first > n - 3) return false;  // there is no other place, or it is all of the tour
    return (next_() & 1) != 0 ? reverse(first, last) : move(first, last);
  }

  const tour& now() const { return tour_; }

private:
  int below(int n) {
    return static_cast<int>((next_() >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }
  // The city at a place from -1 to the number of cities.
  int at(int place) const {
    const int n = cities_.cities;
    return tour_[std::size_t(place < 0 ? place + n : place >= n ? place - n : place)];
  }

  bool reverse(int first, int last) {
    const int a = at(first - 1), b = at(first), c = at(last), d = at(last + 1);
    const int longer = cities_(a, c) + cities_(b, d) - cities_(a, b) - cities_(c, d);
    if (longer <= most_) std::reverse(tour_.begin() + first, tour_.begin() + last + 1);
    return longer < 0;
  }

  bool move(int first, int last) {
    const int n = cities_.cities, length = last - first + 1;
    // Before which city: any but those of the segment and the one after it.
    int to = last + 2 + below(n - length - 1);
    if (to >= n) to -= n;
    const int a = at(first - 1), b = at(first), c = at(last), d = at(last + 1), x = at(to - 1),
              y = at(to);
    const int longer = cities_(a, d) + cities_(x, b) + cities_(c, y) - cities_(a, b) -
                       cities_(c, d) - cities_(x, y);
    if (longer <= most_) {
      const auto begin = tour_.begin();
      if (to > last) std::rotate(begin + first, begin + last + 1, begin + to);
      else std::rotate(begin + to, begin + first, begin + last + 1);
    }
    return longer < 0;
  }

  const instance& cities_;
  int most_;
  random_numbers next_;
  tour tour_;
};

}  // namespace apps::tsp
