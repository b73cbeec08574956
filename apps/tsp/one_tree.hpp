// The shortest 1-tree: a spanning tree of all cities but city 0, and two edges of that. A tour is a
// 1-tree, so none is shorter. Source: M. Held and R. M. Karp, The Traveling-Salesman Problem and
// Minimum Spanning Trees (1970).
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "constraints.hpp"
#include "graph.hpp"

namespace apps::tsp {

class one_tree {
public:
  static constexpr int largest_multiplier = 1 << 28;

  explicit one_tree(const graph& g)
      : g_(g),
        degree_(std::size_t(g.cities)),
        by_(std::size_t(g.cities)),
        above_(std::size_t(g.cities)),
        depth_(std::size_t(g.cities)),
        place_(std::size_t(g.cities)),
        waiting_(std::size_t(g.cities)),
        nearest_(std::size_t(g.cities)) {}

  // Finds the shortest one with all edges that are required and none that is forbidden, where an
  // edge has its weight and the multipliers of its ends. False if there is none.
  bool find(const std::vector<use>& uses, const int* multipliers) {
    uses_ = uses.data();
    multipliers_ = multipliers;
    std::fill(degree_.begin(), degree_.end(), 0);
    weight_ = 0;
    for (int c = 0; c < g_.cities; c++) weight_ -= 2 * std::int64_t{multipliers[c]};
    return span() && add_city_0();
  }

  // The weight, without the multipliers: a bound of the tours' weights.
  std::int64_t weight() const { return weight_; }
  int degree(int city) const { return degree_[std::size_t(city)]; }
  // The edge by which a city was reached; of cities 0 and 1, the two edges of city 0.
  std::int32_t by(int city) const { return by_[std::size_t(city)]; }
  // The city from which it was reached, for other cities than 0 and 1.
  int above(int city) const { return above_[std::size_t(city)]; }
  int depth(int city) const { return depth_[std::size_t(city)]; }

  int weight_of(std::int32_t e) const {
    const edge& x = g_.edges[std::size_t(e)];
    return x.weight + multipliers_[x.a] + multipliers_[x.b];
  }

  bool is_tour() const {
    return std::all_of(degree_.begin(), degree_.end(), [](int d) { return d == 2; });
  }
  // Its cities in order, if it is one.
  tour as_tour() const {
    std::vector<std::int32_t> of_city(2 * degree_.size(), -1);
    for (const std::int32_t e : by_)
      for (const int c : {g_.edges[std::size_t(e)].a, g_.edges[std::size_t(e)].b})
        of_city[2 * std::size_t(c) + (of_city[2 * std::size_t(c)] >= 0)] = e;
    tour t;
    std::int32_t came_by = -1;
    for (int city = 0; t.size() < degree_.size();) {
      t.push_back(static_cast<std::uint16_t>(city));
      const std::int32_t* const two = &of_city[2 * std::size_t(city)];
      came_by = two[0] != came_by ? two[0] : two[1];
      const edge& e = g_.edges[std::size_t(came_by)];
      city = e.a == city ? e.b : e.a;
    }
    return t;
  }

private:
  static constexpr int unreached = INT_MAX;
  static constexpr int preferred = 1 << 30;  // a required edge weighs so much less

  // Prim's algorithm from city 1.
  bool span() {
    waiting_.clear();
    nearest_.clear();
    for (int c = 2; c < g_.cities; c++) {
      place_[std::size_t(c)] = static_cast<int>(waiting_.size());
      waiting_.push_back(c);
      nearest_.push_back(unreached);
    }
    place_[0] = place_[1] = -1;
    depth_[1] = 0;
    for (int city = 1; !waiting_.empty();) {
      reach_from(city);
      const auto least = std::min_element(nearest_.begin(), nearest_.end());
      if (*least == unreached) return false;
      city = waiting_[std::size_t(least - nearest_.begin())];
      add(city);
    }
    return true;
  }
  void reach_from(int city) {
    for (const auto& [to, e] : g_.of(city)) {
      const int place = place_[std::size_t(to)];
      if (place < 0 || uses_[e] == use::forbidden) continue;
      const int weight = weight_of(e) - (uses_[e] == use::required ? preferred : 0);
      if (weight >= nearest_[std::size_t(place)]) continue;
      nearest_[std::size_t(place)] = weight;
      by_[std::size_t(to)] = e;
      above_[std::size_t(to)] = city;
    }
  }
  void add(int city) {
    const auto place = std::size_t(place_[std::size_t(city)]);
    place_[std::size_t(city)] = -1;
    waiting_[place] = waiting_.back();
    nearest_[place] = nearest_.back();
    if (waiting_[place] != city) place_[std::size_t(waiting_[place])] = static_cast<int>(place);
    waiting_.pop_back();
    nearest_.pop_back();
    const int up = above(city);
    depth_[std::size_t(city)] = depth(up) + 1;
    degree_[std::size_t(city)]++;
    degree_[std::size_t(up)]++;
    weight_ += weight_of(by(city));
  }

  bool add_city_0() {
    int least[2] = {unreached, unreached};
    for (const auto& [to, e] : g_.of(0)) {
      if (uses_[e] == use::forbidden) continue;
      const int weight = weight_of(e) - (uses_[e] == use::required ? preferred : 0);
      if (weight >= least[1]) continue;
      least[1] = weight;
      by_[1] = e;
      if (least[1] < least[0]) {
        std::swap(least[0], least[1]);
        std::swap(by_[0], by_[1]);
      }
    }
    if (least[1] == unreached) return false;
    for (const std::int32_t e : {by_[0], by_[1]}) {
      weight_ += weight_of(e);
      degree_[g_.edges[std::size_t(e)].a]++;
      degree_[g_.edges[std::size_t(e)].b]++;
    }
    return true;
  }

  const graph& g_;
  const use* uses_ = nullptr;
  const int* multipliers_ = nullptr;
  std::int64_t weight_ = 0;
  std::vector<int> degree_;
  std::vector<std::int32_t> by_;
  std::vector<int> above_, depth_;
  // The cities not reached yet: where each is in the list, the list, and the weight of the lightest
  // edge to each.
  std::vector<int> place_, waiting_, nearest_;
};

}  // namespace apps::tsp
