// A short tour to begin with: reversals and moves of short segments until none helps, then two
// neighbouring segments change places, again and again. Source: 2-opt and or-opt with neighbour
// lists, as in J. L. Bentley, Fast Algorithms for Geometric Traveling Salesman Problems (1992).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "../common/random.hpp"
#include "instance.hpp"

namespace apps::tsp {

class improver {
public:
  explicit improver(const instance& cities)
      : cities_(cities), n_(cities.cities), tour_(std::size_t(n_)), place_(std::size_t(n_)) {
    find_neighbours();
    begin();
    for (int c = 0; c < n_; c++) unsettled_.push_back(c);
    settle();
  }

  // Changes the tour so often, and keeps what is no longer. The same tour in each run.
  void kick(int times) {
    if (n_ < 8) return;
    random_numbers next(1);
    length_t length = length_of(cities_, best());
    for (int i = 0; i < times; i++) {
      const std::vector<int> before = tour_;
      const int longest_segment = std::min(50, (n_ - 2) / 2);
      const auto below = [&](int n) { return static_cast<int>(next() % static_cast<unsigned>(n)); };
      const int one = 1 + below(longest_segment), two = 1 + below(longest_segment);
      const int from = 1 + below(n_ - one - two);
      const auto first = tour_.begin() + from;
      std::rotate(first, first + one, first + one + two);
      note_places(from, from + one + two);
      for (const int p : {from - 1, from, from + two - 1, from + two, from + one + two - 1})
        unsettled_.push_back(at(p));
      settle();
      const length_t now = length_of(cities_, best());
      if (now <= length) {
        length = now;
      } else {
        tour_ = before;
        note_places(0, n_);
      }
    }
  }

  tour best() const { return {tour_.begin(), tour_.end()}; }

private:
  int at(int place) const { return tour_[std::size_t((place + n_) % n_)]; }
  int place(int city) const { return place_[std::size_t(city)]; }
  void note_places(int from, int to) {
    for (int i = from; i < to; i++) place_[std::size_t(tour_[std::size_t(i)])] = i;
  }

  void find_neighbours() {
    const int count = std::min(n_ - 1, 10);
    std::vector<int> others(static_cast<std::size_t>(n_));
    for (int c = 0; c < n_; c++) {
      std::iota(others.begin(), others.end(), 0);
      std::swap(others[0], others[std::size_t(c)]);
      std::partial_sort(
          others.begin() + 1, others.begin() + 1 + count, others.end(),
          [&](int a, int b) { return std::pair(cities_(c, a), a) < std::pair(cities_(c, b), b); });
      near_.emplace_back(others.begin() + 1, others.begin() + 1 + count);
    }
  }

  // Goes on to the nearest city that is left.
  void begin() {
    std::iota(tour_.begin(), tour_.end(), 0);
    for (auto next = tour_.begin() + 1; next != tour_.end(); ++next) {
      const int from = next[-1];
      std::iter_swap(next, std::min_element(next, tour_.end(), [&](int a, int b) {
                       return cities_(from, a) < cities_(from, b);
                     }));
    }
    note_places(0, n_);
  }

  void settle() {
    while (!unsettled_.empty()) {
      const int city = unsettled_.back();
      unsettled_.pop_back();
      while (reverse_at(city) || move_at(city)) {}
    }
  }

  // Two edges at `city` and a neighbour, on the same side of both, become two others.
  bool reverse_at(int a) {
    for (const int side : {1, -1}) {
      const int b = at(place(a) + side);
      for (const int c : near_[std::size_t(a)]) {
        const int gain = cities_(a, b) - cities_(a, c);
        if (gain <= 0) break;
        const int d = at(place(c) + side);
        if (cities_(b, d) - cities_(c, d) >= gain) continue;
        if (side > 0) reverse(place(a) + 1, place(c));
        else reverse(place(c), place(a) - 1);
        unsettled_.insert(unsettled_.end(), {a, b, c, d});
        return true;
      }
    }
    return false;
  }
  // Reverses the places from `from` to `to`, or, which is the same tour, all others.
  void reverse(int from, int to) {
    from = (from + n_) % n_;
    to = (to + n_) % n_;
    if (from > to) {
      std::swap(from, to);
      from++;
      to--;
    }
    if (from > to) return;
    std::reverse(tour_.begin() + from, tour_.begin() + to + 1);
    note_places(from, to + 1);
  }

  // A segment of up to three cities that begins or ends with `a` goes beside a neighbour of that.
  bool move_at(int a) {
    for (int length = 1; length <= std::min(3, n_ - 3); length++)
      for (const bool is_first : {true, false}) {
        const int from = is_first ? place(a) : place(a) - length + 1;
        if (from < 1 || from + length >= n_) continue;  // it lies across the end of the list
        if (move(from, length, a)) return true;
      }
    return false;
  }
  bool move(int from, int length, int a) {
    const int other = at(from) == a ? at(from + length - 1) : at(from);
    const int before = at(from - 1), after = at(from + length);
    const int saved =
        cities_(before, at(from)) + cities_(at(from + length - 1), after) - cities_(before, after);
    for (const int c : near_[std::size_t(a)]) {
      if (cities_(a, c) >= saved) break;
      if (place(c) >= from && place(c) < from + length) continue;
      for (const int side : {1, -1}) {
        const int d = at(place(c) + side);  // `a` comes to c, `other` to d
        if (place(d) >= from && place(d) < from + length) continue;
        if (place(c) + side < 0 || place(c) + side >= n_) continue;
        if (cities_(a, c) + cities_(other, d) - cities_(c, d) >= saved) continue;
        insert(from, length, std::max(place(c), place(d)), side > 0 ? a : other);
        unsettled_.insert(unsettled_.end(), {a, other, before, after, c, d});
        return true;
      }
    }
    return false;
  }
  // Moves a segment before what is at `to`, with the city `first` first.
  void insert(int from, int length, int to, int first) {
    const auto begin = tour_.begin();
    if (at(from) != first) std::reverse(begin + from, begin + from + length);
    if (to > from) {
      std::rotate(begin + from, begin + from + length, begin + to);
      note_places(from, to);
    } else {
      std::rotate(begin + to, begin + from, begin + from + length);
      note_places(to, from + length);
    }
  }

  const instance& cities_;
  int n_;
  std::vector<int> tour_, place_;  // the city at each place, and the place of each city
  std::vector<std::vector<int>> near_;
  std::vector<int> unsettled_;  // cities at which something may be improved
};

inline tour short_tour(const instance& cities) {
  improver i(cities);
  i.kick(std::min(100 * cities.cities, 20'000));
  return i.best();
}

}  // namespace apps::tsp
