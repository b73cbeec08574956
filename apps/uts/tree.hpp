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
enum class shape { linear, exponential, cyclic, fixed };  // of a geometric tree

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
    std::uint32_t block[16] = {state[0],  state[1], state[2],
                               state[3],  state[4], static_cast<std::uint32_t>(i),
                               0x80000000};
    block[15] = 24 * 8;
    return {sha1(block), height + 1};
  }
};

class tree {
public:
  explicit tree(const parameters& p) : p_(p) {
    if (p.type == kind::geometric)
      for (int height = 0; height <= 5 * p.depth; height++)
        log_failure_.push_back(std::log(1 - 1 / (1 + expected_children(height))));
  }

  const parameters& made_of() const { return p_; }

  node root() const {
    std::uint32_t block[16] = {0, 0, 0, 0, static_cast<std::uint32_t>(p_.seed), 0x80000000};
    block[15] = 20 * 8;
    return {sha1(block), 0};
  }

  int children(const node& n) const {
    double u = n.random() / 2147483648.0;
    if (p_.type == kind::binomial) {
      if (n.height == 0) return static_cast<int>(p_.branching);
      return u < p_.q ? p_.m : 0;
    }
    double log_failure = n.height < static_cast<int>(log_failure_.size())
                             ? log_failure_[n.height]
                             : std::log(1 - 1 / (1 + expected_children(n.height)));
    return static_cast<int>(std::min(std::log(1 - u) / log_failure, 100.0));
  }

private:
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
  std::vector<double> log_failure_;  // by height; computing it costs as much as half a node
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
