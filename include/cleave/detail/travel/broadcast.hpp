#pragma once

#include <cleave/detail/travel/team.hpp>

#include <cstddef>
#include <vector>

namespace cleave::detail {

/// Has all members have what one of them has; all call it, in the same order as they make graphs.
/// The root chooses the tree, and whether the bytes go in parts, which each member passes on when
/// they come: as takes least time, or as CLEAVE_BROADCAST says.
/// Blocks until all bytes are here, and serves requests meanwhile. Throws `cancelled`, and
/// std::logic_error if a member has ended without it.
std::vector<std::byte> broadcast(team_node& all, unsigned root, std::vector<std::byte> bytes);
/// Throws std::invalid_argument if CLEAVE_BROADCAST is not as it should be.
void check_broadcast_setting();

}  // namespace cleave::detail
