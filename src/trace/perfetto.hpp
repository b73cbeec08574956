#pragma once

#include "trace/node_trace.hpp"

#include <cleave/statistics.hpp>

#include <cstdio>
#include <vector>

/// Traces as JSON that ui.perfetto.dev and chrome://tracing read (the Trace Event Format).
namespace cleave::trace {

/// What the file takes besides its spans, and for each of them, at most.
constexpr std::size_t header_bytes(std::size_t workers) noexcept { return 2048 + 128 * workers; }
inline constexpr std::size_t most_bytes_per_span = 512;

/// Begins and ends in the order of time, matched on each worker, and an arrow from where a task was
/// made to where it ran. A process for each node, a thread for each of its workers. Time begins
/// with the first node. Errors are the stream's.
void write_json(std::FILE* out, std::vector<node_trace> nodes, const time_spent& spent);

}  // namespace cleave::trace
