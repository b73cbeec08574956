#pragma once

#include <cleave/detail/travel/team.hpp>

#include <cstddef>
#include <vector>

namespace cleave::detail {

/// Has all members have what one of them has; all call it, in the same order as they make graphs.
/// Few bytes go along a binomial tree. Many go in parts along a chain, or along a binary tree if
/// the chain were long; each member passes parts on when they come.
/// Blocks until all bytes are here, and serves requests meanwhile. Throws `cancelled`, and
/// std::logic_error if a member has ended without it.
std::vector<std::byte> broadcast(team_node& all, unsigned root, std::vector<std::byte> bytes);

}  // namespace cleave::detail
