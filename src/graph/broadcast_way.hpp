#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cleave::detail {

/// What CLEAVE_BROADCAST says: one way for all broadcasts, or that each goes as takes least time in
/// a network with these parameters of LogGP (Alexandrov and others, 1995).
struct broadcast_setting {
  enum class way : std::uint8_t { cheapest, flat, binomial, chain, binary } is = way::cheapest;
  double latency = 20, overhead = 5;  ///< L and o, microseconds: of a fast network in a building
  double per_byte = 0.002;            ///< G, microseconds
  friend bool operator==(const broadcast_setting&, const broadcast_setting&) = default;
};
/// Throws std::invalid_argument, which says what was expected of `setting`.
broadcast_setting read_broadcast_setting(const char* setting, std::string_view text);
/// The setting in the environment, which is read once. Any thread. Throws as
/// read_broadcast_setting(). A program that compares ways changes it, before a broadcast of this
/// thread.
broadcast_setting& broadcast_setting_in_use();

/// How a broadcast goes: the tree, and the parts that it sends. Members are numbered from the one
/// on that all others get it from.
struct broadcast_way {
  using shape = broadcast_setting::way;
  shape is = shape::binomial;  // never cheapest
  std::size_t part = 0;        // bytes

  /// Members to which `self` sends each part. The largest subtree first: it takes longest.
  std::vector<unsigned> children(unsigned self, unsigned members) const;
};

/// The way of that many bytes to that many members, of two or more. `cpus`: so many are shared by
/// all members; 0: each member has CPUs of its own.
broadcast_way way_of_broadcast(std::size_t bytes, unsigned members, const broadcast_setting& how,
                               unsigned cpus = 0);

/// The members from `root` on, those of one site behind each other, so that a chain goes into each
/// site once, and of a tree few branches do. `sites` has a number for the site of each member.
std::vector<unsigned> order_of_broadcast(unsigned root, const std::vector<std::uint64_t>& sites);

}  // namespace cleave::detail
