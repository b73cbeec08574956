// What a run tells: who waits for whom, the critical path, the time of a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/recorded_graph.hpp"
#include "record/job.hpp"

namespace record {

using transit = cleave::detail::message_costs::cost;

// From the begin of a send until its receiver can go on: what all but the fastest tenth of the
// messages took whose receiver waited already.
transit transit_of(const job& of);

// A call in three parts. It waits until `reached`, when the last one that it waits for has begun;
// the message is there at `ready`; what is left is MPI's own work.
struct parts {
  double reached = 0, ready = 0;
  std::optional<dependence> last;  // if the call has waited
};
parts parts_of(const job& of, const transit& by, std::uint32_t rank, std::size_t step);

struct shares {
  double computing = 0, communicating = 0, waiting = 0;  // microseconds
};

// A part of the critical path: what one rank does behind a call, or in it.
struct path_part {
  std::uint32_t rank = 0, site = 0;
  enum class kind : std::uint8_t { computing, communicating } is = kind::computing;
  double time = 0;
};

struct analysis {
  transit by;
  std::vector<shares> ranks;
  std::vector<std::vector<double>> waits;  // of a rank (first index) for another one
  std::vector<path_part> path;             // those that take the longest first
};

// The site of what comes before a rank's first call.
inline constexpr std::uint32_t no_site = ~std::uint32_t{0};

analysis analysis_of(const job& of);

// For `cleave plan`: two subtasks for each call, what comes before it and MPI's work in it. `names`
// are those of the sites.
cleave::detail::recorded_graph graph_of(const job& of, const transit& by,
                                        const std::vector<std::string>& names);

}  // namespace record
