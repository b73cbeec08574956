#pragma once

#include <cleave/statistics.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/node_trace.hpp"
#include "transport/transport.hpp"

namespace cleave::net {

/// What a node has done so far, in a `report`.
struct node_report {
  double clock_us = 0;  ///< its steady clock, when this was written
  std::uint64_t workers = 0, splits = 0, requests = 0;
  double cpu_seconds = 0;  ///< CPU time of its process
  std::uint64_t tasks_in = 0, tasks_out = 0;
  traffic carried;
  std::vector<stayed_task> stayed;
  std::optional<trace::node_trace> trace;
};

bytes encode(const node_report& r);
/// Reads a report; returns nothing if it is malformed.
std::optional<node_report> decode_report(std::span<const std::byte> in);

/// How far another node's clock is ahead of this one's, and how exact that is (Cristian, 1989): it
/// is read in the middle of a question and its answer.
struct clock_offset {
  double us = 0;
  double error_us = 1e18;

  /// Keeps what is known best: `there` was read between `asked` and `came`.
  void improve(double asked, double there, double came) noexcept {
    const double error = (came - asked) / 2;
    if (error < error_us) *this = {there - (asked + came) / 2, error};
  }
};

}  // namespace cleave::net
