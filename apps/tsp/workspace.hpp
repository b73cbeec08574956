// The constraints and multipliers on the way from the root to where the search is, and what is done
// in a node: its bound, what follows from that, and how to branch.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "constraints.hpp"
#include "graph.hpp"
#include "one_tree.hpp"

namespace apps::tsp {

// How a node raises its bound by changing the multipliers.
struct ascent {
  int trees;      // that are found at most
  double step;    // a share of what would lead from the bound to the best tour, if all went well
  double factor;  // by which it becomes smaller
  int patience;   // after so many trees without a better bound
};

// What a search below a node begins with.
struct node_state {
  std::vector<decision> decisions;
  std::vector<int> multipliers;
  auto fields() { return std::tie(decisions, multipliers); }
};

// The branches of a node, the most promising one first.
struct branching {
  std::vector<decision> sure;  // what follows from the node's bound and the best tour
  // Branches: both are required; `first` is, `second` is forbidden; `first` is forbidden. Without
  // `second`: `first` is required, or forbidden.
  std::int32_t first = -1, second = -1;
  int count = 0;
  std::array<length_t, 3> bound{};  // no tour of a branch is shorter
  auto fields() { return std::tie(sure, first, second, count, bound); }
};

class workspace {
public:
  enum class verdict {
    closed,  // there is no tour that is shorter than the best one
    solved,  // none is shorter than the one that was found
    open
  };

  workspace(const graph& g, const node_state& begin)
      : g_(g),
        constraints_(g),
        tree_(g),
        levels_{{0, begin.multipliers}},
        trial_(std::size_t(g.cities)),
        direction_(std::size_t(g.cities)) {
    for (const decision& d : begin.decisions) constraints_.decide(d);
  }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  // What a search would begin with here.
  node_state top() const {
    node_state s{{}, levels_[depth_].multipliers};
    const auto& uses = constraints_.uses();
    for (std::size_t e = 0; e < uses.size(); e++)
      if (uses[e] != use::open) s.decisions.push_back({static_cast<std::int32_t>(e), uses[e]});
    return s;
  }

  // Enters a branch, and leaves it. Who enters it again finds the multipliers that it had.
  void push(const branching& b, int i) {
    if (++depth_ == levels_.size()) levels_.emplace_back();
    levels_[depth_].decided = constraints_.decided();
    for (const decision& d : b.sure) decide(d);
    const bool with_first = i < b.count - 1;
    if (with_first && b.second >= 0) decide({b.second, i == 0 ? use::required : use::forbidden});
    decide({b.first, with_first ? use::required : use::forbidden});
  }
  void pop() { constraints_.take_back(levels_[depth_--].decided); }

  // Raises the bound of this node, from the multipliers of the one above it on.
  verdict raise(const ascent& how, length_t best) {
    if (constraints_.impossible()) return verdict::closed;
    begin_raising(levels_[depth_ > 0 ? depth_ - 1 : 0].multipliers);
    double step = how.step;
    for (int i = 0, in_vain = 0; i < how.trees; i++) {
      const progress p = try_multipliers(best);
      if (p == progress::ended) return ended_as_;
      if (p == progress::better) {
        in_vain = 0;
      } else if (++in_vain == how.patience) {
        step *= how.factor;
        in_vain = 0;
      }
      move(step * units_to(best) / norm());
    }
    return end_raising();
  }

  // The same of the root, with more patience: with steps that are long at first, in periods that
  // become shorter. Source: K. Helsgaun, An Effective Implementation of the Lin-Kernighan
  // Traveling Salesman Heuristic (2000), section 4.2.
  verdict raise_root(int first_period, length_t best) {
    begin_raising(levels_[0].multipliers);
    if (try_multipliers(best) == progress::ended) return ended_as_;
    bool is_first = true;
    double step = g_.units;
    for (int period = first_period; period > 0 && step >= 1; period /= 2, step /= 2)
      for (int i = 1; i <= period && step >= 1; i++) {
        move(step);
        const progress p = try_multipliers(best);
        if (p == progress::ended) return ended_as_;
        if (p == progress::better) {
          if (is_first) step = std::min(2 * step, double{one_tree::largest_multiplier});
          if (i == period) period = std::min(2 * period, first_period);
        } else if (is_first && i > period / 2) {
          is_first = false;
          i = 0;
          step *= 0.75;
        }
      }
    return end_raising();
  }

  // After raise(): no tour is shorter; the tour that it has found.
  length_t bound() const { return in_lengths(bound_); }
  tour found() const { return tree_.as_tour(); }
  length_t found_length() const { return tree_.weight() / g_.units; }

  // After raise() has left the node open: how to go on.
  branching branch(length_t best) {
    find_prices();
    branching b;
    // What costs more is of no use, in units.
    const std::int64_t most = (best - 1) * g_.units - bound_;
    for (std::size_t e = 0; e < g_.edges.size(); e++) {
      const auto edge = static_cast<std::int32_t>(e);
      if (constraints_.of(edge) == use::open && price_[e] > most)
        b.sure.push_back({edge, in_tree_[e] ? use::required : use::forbidden});
    }
    choose(b);
    return b;
  }

  // After branch(): which open edges a shorter tour than the best may have.
  bool may_be_used(std::int32_t e, length_t best) const {
    return in_tree_[std::size_t(e)] || price_[std::size_t(e)] <= (best - 1) * g_.units - bound_;
  }

private:
  struct level {
    std::size_t decided = 0;  // before it
    std::vector<int> multipliers;
  };

  void decide(decision d) {
    if (!constraints_.impossible()) constraints_.decide(d);
  }
  length_t in_lengths(std::int64_t units) const {
    return units <= 0 ? 0 : (units + g_.units - 1) / g_.units;
  }

  // ---- the bound

  void begin_raising(const std::vector<int>& multipliers) {
    trial_ = multipliers;
    std::fill(direction_.begin(), direction_.end(), 0);
    bound_ = std::numeric_limits<std::int64_t>::min();
  }

  enum class progress { ended, better, none };
  // Finds the tree with the multipliers on trial, and keeps them if it is a better bound.
  progress try_multipliers(length_t best) {
    ended_as_ = verdict::closed;
    if (!tree_.find(constraints_.uses(), trial_.data())) return progress::ended;
    if (tree_.is_tour()) {
      ended_as_ = verdict::solved;
      return progress::ended;
    }
    if (tree_.weight() <= bound_) return progress::none;
    bound_ = tree_.weight();
    levels_[depth_].multipliers = trial_;
    return bound() >= best ? progress::ended : progress::better;
  }
  // The tree is that of the best multipliers again.
  verdict end_raising() {
    tree_.find(constraints_.uses(), levels_[depth_].multipliers.data());
    return verdict::open;
  }

  double units_to(length_t best) const {
    return std::max(1.0, static_cast<double>(best * g_.units - tree_.weight()));
  }
  double norm() const {
    std::int64_t sum = 0;
    for (int c = 0; c < g_.cities; c++)
      sum += std::int64_t{tree_.degree(c) - 2} * (tree_.degree(c) - 2);
    return static_cast<double>(sum);
  }
  // A step of the subgradient: cities with more than two edges in the tree become dearer.
  void move(double step) {
    for (int c = 0; c < g_.cities; c++) {
      const auto i = static_cast<std::size_t>(c);
      const double degree = tree_.degree(c) - 2;
      const double to = trial_[i] + step * (0.7 * degree + 0.3 * direction_[i]);
      direction_[i] = degree;
      constexpr double most = one_tree::largest_multiplier;
      trial_[i] = static_cast<int>(std::clamp(std::nearbyint(to), -most, most));
    }
  }

  // ---- what follows

  // Finds by how much the bound rises if an open edge is forbidden that the tree has, or required
  // that the tree has not.
  void find_prices() {
    price_.assign(g_.edges.size(), none);
    in_tree_.assign(g_.edges.size(), false);
    for (int c = 0; c < g_.cities; c++) in_tree_[std::size_t(tree_.by(c))] = true;
    for (std::size_t e = 0; e < g_.edges.size(); e++) {
      const auto edge = static_cast<std::int32_t>(e);
      if (!in_tree_[e] && constraints_.of(edge) == use::open)
        price_[e] = g_.edges[e].a == 0 ? price_at_city_0(edge) : price_of_cycle(edge);
    }
  }
  // An edge outside replaces the heaviest open one of those with which it closes a cycle.
  std::int64_t price_of_cycle(std::int32_t e) {
    const int weight = tree_.weight_of(e);
    int a = g_.edges[std::size_t(e)].a, b = g_.edges[std::size_t(e)].b;
    std::int64_t least = none;
    while (a != b) {
      int& lower = tree_.depth(a) > tree_.depth(b) ? a : b;
      least = std::min(least, replace(tree_.by(lower), weight));
      lower = tree_.above(lower);
    }
    return least;
  }
  std::int64_t price_at_city_0(std::int32_t e) {
    const int weight = tree_.weight_of(e);
    return std::min(replace(tree_.by(0), weight), replace(tree_.by(1), weight));
  }
  // The price of an edge in the tree is at most that of another one with this weight.
  std::int64_t replace(std::int32_t in_tree, int weight) {
    if (constraints_.of(in_tree) != use::open) return none;
    const std::int64_t price = std::int64_t{weight} - tree_.weight_of(in_tree);
    price_[std::size_t(in_tree)] = std::min(price_[std::size_t(in_tree)], price);
    return price;
  }

  // Two open edges of a city that has more than two in the tree.
  void choose(branching& b) const {
    std::int64_t best_first = -1, best_second = -1;
    for (int c = 0; c < g_.cities; c++) {
      if (tree_.degree(c) < 3) continue;
      std::int32_t first = -1, second = -1;
      for (const auto& [to, e] : g_.of(c)) {
        if (!in_tree_[std::size_t(e)] || constraints_.of(e) != use::open) continue;
        if (first < 0 || price(e) > price(first)) second = first, first = e;
        else if (second < 0 || price(e) > price(second)) second = e;
      }
      if (constraints_.required_at(c) == 1) second = -1;
      const std::int64_t p = price(first), q = second < 0 ? none : price(second);
      if (std::min(p, q) < best_first || (std::min(p, q) == best_first && p <= best_second))
        continue;
      best_first = std::min(p, q);
      best_second = p;
      b.first = first;
      b.second = second;
    }
    b.count = b.second < 0 ? 2 : 3;
    b.bound[0] = bound();
    if (b.second >= 0) b.bound[1] = in_lengths(bound_ + price(b.second));
    b.bound[std::size_t(b.count) - 1] = in_lengths(bound_ + price(b.first));
  }
  std::int64_t price(std::int32_t e) const { return price_[std::size_t(e)]; }

  static constexpr std::int64_t none = std::int64_t{1} << 52;

  const graph& g_;
  constraints constraints_;
  one_tree tree_;
  std::vector<level> levels_;  // the root's first
  std::size_t depth_ = 0;
  std::int64_t bound_ = 0;  // of the node, in units
  verdict ended_as_ = verdict::open;
  // What follows is used within one call.
  std::vector<int> trial_;
  std::vector<double> direction_;
  std::vector<std::int64_t> price_;
  std::vector<char> in_tree_;
};

}  // namespace apps::tsp
