#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// The work that simulated nodes share out: a tree whose nodes are numbered in the order in which a
/// sequential program visits them, so that the subtree of node i is the numbers from i to i +
/// size[i]. A piece of work is a range of siblings' subtrees; what it should result in follows from
/// the range alone.
namespace sim {

struct tree {
  std::vector<std::uint32_t> size;  ///< the nodes of each node's subtree, itself included
  unsigned height = 0;              ///< nodes on the longest path
  unsigned repeats = 0;  ///< sum over a path of log2 of the children: how often loops can nest

  // A search for the best node, in small trees only.
  std::vector<std::uint32_t> value;  ///< all different
  std::vector<std::uint32_t> limit;  ///< no node of the subtree is better
  std::vector<bool> throws;          ///< visiting it fails

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(size.size()); }
  std::uint32_t best() const;
};

/// What is added up: which nodes were visited or passed over, and how many.
struct tally {
  std::uint64_t nodes = 0;
  std::uint64_t sum = 0;
  friend bool operator==(const tally&, const tally&) = default;
  tally& operator+=(const tally& b) { return nodes += b.nodes, sum += b.sum, *this; }
};

/// The tally of the nodes from..to: sums of numbers and of their squares would not tell a double
/// merge from a loss.
tally tally_of(std::uint32_t from, std::uint32_t to);

/// A random tree of about that many nodes.
tree random_tree(std::uint64_t seed, std::uint32_t nodes, bool with_errors);

/// UTS's geometric trees of fixed shape: T1 (depth 10, seed 19), T1L (depth 13, seed 29).
tree uts_tree(int depth, int seed);
/// One of UTS's standard trees (apps/uts), by its name.
tree uts_tree(std::string_view name);
/// A binomial tree of UTS: the root has so many children, another node has `m` with probability q.
tree binomial_tree(int root_children, double q, int m, int seed);

}  // namespace sim
