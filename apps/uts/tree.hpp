// Unbalanced trees: every node's children follow from its 160 bits of random state alone.
// Olivier et al., "UTS: An Unbalanced Tree Search Benchmark", LCPC 2006; same trees, node by node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sha1.hpp"

namespace apps::uts {

enum class kind { binomial, geometric };
enum class shape { linear, exponential, cyclic, fixed };  // the shapes of geometric trees

struct parameters {
  kind type = kind::geometric;
  shape form = shape::linear;
  int depth = 6;         // geometric: the depth at which a linear or fixed tree ends
  double branching = 4;  // expected children of the root
  double q = 15.0 / 64;  // binomial: the probability that a node has children ...
  int m = 4;             // ... and how many
  int seed = 0;
};

struct node {
  digest state;
  int height;

  // Uniform in [0, 2^31).
  std::uint32_t random() const { return state[4] & 0x7fffffff; }

  node child(int i) const {
    const auto [a, b, c, d, e] = state;
    return {sha1(a, b, c, d, e, static_cast<std::uint32_t>(i)), height + 1};
  }
};

class tree {
public:
  explicit tree(const parameters& p) : p_(p) {
    if (p.type == kind::geometric)
      for (int height = 0; height <= 5 * p.depth; height++)
        levels_.emplace_back(level_at(height)).find_childless();
  }

  const parameters& made_of() const { return p_; }

  node root() const { return {sha1(0U, 0U, 0U, 0U, static_cast<std::uint32_t>(p_.seed)), 0}; }

  int children(const node& n) const {
    if (p_.type == kind::binomial) {
      if (n.height == 0) return static_cast<int>(p_.branching);
      return n.random() / 2147483648.0 < p_.q ? p_.m : 0;
    }
    if (n.height >= static_cast<int>(levels_.size()))
      return level_at(n.height).children(n.random());
    return levels_[n.height].children(n.random());
  }

private:
  // What all nodes of one height have in common: computing it costs as much as half a node.
  struct level {
    double log_failure;
    std::uint32_t childless_below = 0;  // most nodes are leaves, and need no logarithm

    int children(std::uint32_t random) const {
      if (random < childless_below) return 0;
      return static_cast<int>(std::min(std::log(1 - random / 2147483648.0) / log_failure, 100.0));
    }
    // Takes 31 logarithms.
    void find_childless() {
      std::uint32_t last = 0x80000000;  // past all
      for (std::uint32_t first = 0; first < last;) {
        const std::uint32_t middle = first + (last - first) / 2;
        children(middle) == 0 ? first = middle + 1 : last = middle;
      }
      childless_below = last;
    }
  };

  level level_at(int height) const { return {std::log(1 - 1 / (1 + expected_children(height)))}; }

  double expected_children(int height) const {
    if (height == 0) return p_.branching;
    switch (p_.form) {
      case shape::exponential:
        return p_.branching * std::pow(height, -std::log(p_.branching) / std::log(p_.depth));
      case shape::cyclic:
        if (height > 5 * p_.depth) return 0;
        return std::pow(p_.branching, std::sin(2 * 3.141592653589793 * height / p_.depth));
      case shape::fixed: return height < p_.depth ? p_.branching : 0;
      case shape::linear: break;
    }
    return p_.branching * (1 - double(height) / p_.depth);
  }

  parameters p_;
  std::vector<level> levels_;  // the levels by height
};

// What a search finds.
struct tally {
  std::uint64_t nodes = 0, leaves = 0;
  int height = 0;

  tally& operator+=(const tally& b) {
    nodes += b.nodes;
    leaves += b.leaves;
    height = std::max(height, b.height);
    return *this;
  }
  friend tally operator+(tally a, const tally& b) { return a += b; }
  friend bool operator==(const tally&, const tally&) = default;
};

struct sample {
  std::string_view name;
  parameters tree;
  std::uint64_t nodes;
};

// The benchmark's standard trees.
inline constexpr sample samples[] = {
    {"T1", {kind::geometric, shape::fixed, 10, 4, 0, 0, 19}, 4130071},
    {"T1L", {kind::geometric, shape::fixed, 13, 4, 0, 0, 29}, 102181082},
    {"T2", {kind::geometric, shape::cyclic, 16, 6, 0, 0, 502}, 4117769},
    {"T3", {kind::binomial, shape::linear, 0, 2000, 0.124875, 8, 42}, 4112897},
    {"T3L", {kind::binomial, shape::linear, 0, 2000, 0.200014, 5, 7}, 111345631},
    {"T5", {kind::geometric, shape::linear, 20, 4, 0, 0, 34}, 4147582},
};

}  // namespace apps::uts
