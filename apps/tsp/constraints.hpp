// Which edges a tour must use and which it must not, on the way from the root to where the search
// is; what follows from a choice is added at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph.hpp"

namespace apps::tsp {

enum class use : std::uint8_t { open, required, forbidden };

struct decision {
  std::int32_t edge;
  use as;  // not open
  auto fields() { return std::tie(edge, as); }
};

class constraints {
public:
  explicit constraints(const graph& g)
      : g_(g),
        uses_(g.edges.size(), use::open),
        required_(std::size_t(g.cities)),
        left_(std::size_t(g.cities)) {
    for (int c = 0; c < g.cities; c++)
      left_[std::size_t(c)] =
          static_cast<int>(g.first[std::size_t(c) + 1] - g.first[std::size_t(c)]);
  }
  constraints(const constraints&) = delete;
  constraints& operator=(const constraints&) = delete;

  const std::vector<use>& uses() const { return uses_; }
  use of(std::int32_t edge) const { return uses_[std::size_t(edge)]; }
  int required_at(int city) const { return required_[std::size_t(city)]; }
  bool impossible() const { return impossible_; }  // there is no such tour

  // How many edges are not open; take_back() to this.
  std::size_t decided() const { return decided_.size(); }
  void take_back(std::size_t decided) {
    while (decided_.size() > decided) {
      const std::int32_t edge = decided_.back();
      decided_.pop_back();
      const int sign = of(edge) == use::required ? -1 : 1;
      for (const int city : {ends(edge).a, ends(edge).b})
        (sign < 0 ? required_ : left_)[std::size_t(city)] += sign;
      uses_[std::size_t(edge)] = use::open;
    }
    impossible_ = false;
  }

  // Decides on an edge, and on all that follows from that. What follows from a state and a decision
  // is always the same.
  void decide(decision d) {
    pending_.assign(1, d);
    for (std::size_t i = 0; i < pending_.size() && !impossible_; i++)
      pending_[i].as == use::required ? require(pending_[i].edge) : forbid(pending_[i].edge);
  }

private:
  const edge& ends(std::int32_t e) const { return g_.edges[std::size_t(e)]; }

  void mark(std::int32_t e, use as) {
    uses_[std::size_t(e)] = as;
    decided_.push_back(e);
  }
  void decide_open_ones(int city, use as) {
    for (const auto& [to, e] : g_.of(city))
      if (of(e) == use::open) pending_.push_back({e, as});
  }

  void forbid(std::int32_t e) {
    if (of(e) == use::forbidden) return;
    if (of(e) == use::required) return fail();
    mark(e, use::forbidden);
    for (const int city : {ends(e).a, ends(e).b}) {
      const int left = --left_[std::size_t(city)];
      if (left < 2) fail();
      else if (left == 2) decide_open_ones(city, use::required);
    }
  }

  void require(std::int32_t e) {
    if (of(e) == use::required) return;
    if (of(e) == use::forbidden) return fail();
    const auto [a, b, weight] = ends(e);
    if (required_at(a) == 2 || required_at(b) == 2) return fail();
    const path_end from_a = end_of_path(a), from_b = end_of_path(b);
    const int edges = from_a.edges + from_b.edges + 1;
    mark(e, use::required);
    for (const int city : {a, b})
      if (++required_[std::size_t(city)] == 2) decide_open_ones(city, use::forbidden);
    if (from_a.city == b && edges > 1) {  // a cycle, whose edges were counted from both ends
      if (from_a.edges + 1 != g_.cities) fail();
    } else {
      close(from_a.city, from_b.city, edges);
    }
  }

  struct path_end {
    int city, edges;
  };
  // The other end of the path of required edges from a city that has at most one of them.
  path_end end_of_path(int city) const {
    std::int32_t came_by = -1;
    for (int edges = 0;; edges++) {
      bool ends_here = true;
      for (const auto& [to, e] : g_.of(city))
        if (of(e) == use::required && e != came_by) {
          city = to;
          came_by = e;
          ends_here = false;
          break;
        }
      if (ends_here) return {city, edges};
    }
  }

  // Decides on the edge between the ends of a path of required edges.
  void close(int a, int b, int edges) {
    const bool whole = edges == g_.cities - 1;
    bool exists = false;
    if (edges > 1)
      for (const auto& [to, e] : g_.of(a))
        if (to == b) {
          exists = true;
          pending_.push_back({e, whole ? use::required : use::forbidden});
        }
    if (whole && !exists) fail();
  }

  void fail() { impossible_ = true; }

  const graph& g_;
  std::vector<use> uses_;  // of each edge
  // Of each city: the edges that are required, and those that are not forbidden.
  std::vector<int> required_, left_;
  std::vector<std::int32_t> decided_;  // in their order
  std::vector<decision> pending_;      // what follows from a decision
  bool impossible_ = false;
};

}  // namespace apps::tsp
