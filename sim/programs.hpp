#pragma once

#include <cstdint>
#include <string>

#include "sim/tree.hpp"

/// The trees of the Tascell paper's programs, also at its sizes (section 4.2). Those have more
/// nodes than fit in memory: what is far from the root is put together. A piece that is put
/// together has as many nodes as its share of the work is worth, and is one loop.
namespace sim {

/// The calls of fib(n), n from 22 to 60.
tree fib_tree(unsigned n);

/// The boards that a search for all ways to place n queens comes to, n from 1 to 18; to 14 nothing
/// is put together. Takes two minutes for 18.
tree queens_tree(unsigned n);

/// The boards of a search for all ways to cover the board of that file (apps/pentomino). With
/// `descents`, so many random descents estimate what is below the fifth placement; else it takes as
/// long as the search does. Throws apps::input_error.
tree pentomino_tree(const std::string& file, unsigned descents = 0);

/// The planes and lines of (2n+1)^3 particles, n from 1 to 5000; a line is a node.
tree grav_tree(unsigned n);

/// The comparison of all pairs of two arrays of n numbers, n from 2 to 10000000, by halving the
/// longer one (apps/compare), 22 times at most.
tree compare_tree(unsigned n);
/// What it publishes: both arrays.
std::size_t compare_bytes(unsigned n);

}  // namespace sim
