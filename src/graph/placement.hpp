#pragma once

#include <cleave/detail/graph/graph.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/schedule.hpp"

namespace cleave::detail {

/// Where the subtasks of a graph run, as a schedule says; the same on all nodes.
class placement_plan {
public:
  placement_plan(const recorded_graph& of, schedule s);
  /// Throws malformed.
  placement_plan(byte_reader& from, unsigned nodes);
  void put(byte_writer& to) const;

  /// The rank of the next subtask. Returns nothing behind the last one that was recorded, and from
  /// the first one on that uses other data than was recorded.
  std::optional<unsigned> next(std::span<const datum_use> uses);
  /// The first subtask that used other data.
  std::optional<std::size_t> differs_at() const noexcept { return differs_at_; }

private:
  std::vector<std::uint32_t> ranks_, checks_;
  std::size_t next_ = 0;
  std::optional<std::size_t> differs_at_;
};

}  // namespace cleave::detail
