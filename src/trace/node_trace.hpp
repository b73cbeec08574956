#pragma once

#include "trace/recorder.hpp"

#include <cleave/statistics.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace cleave::trace {

/// What the workers of one node did, and what its clock shows.
struct node_trace {
  std::uint32_t node = 0;        // its address
  std::uint64_t first_tick = 0;  // when its recording began
  double first_us = 0;           // first_tick by the clock of the node that writes the file
  double us_per_tick = 0;
  time_spent spent;
  std::vector<recorder::snapshot> workers;
  /// The names of its tasks, if it came from another node: of this one they are the program's.
  std::shared_ptr<const std::deque<std::string>> names;

  double at(std::uint64_t tick) const noexcept {
    return first_us +
           static_cast<double>(static_cast<std::int64_t>(tick - first_tick)) * us_per_tick;
  }
};

}  // namespace cleave::trace
