// What `cleave study net` runs.
#pragma once

#include <string>
#include <vector>

#include "net_data.hpp"

namespace study::networks {

// What was asked for; empty and 0: the usual.
struct choice {
  bool quick = false;
  std::vector<std::string> networks, parts;
  std::vector<int> ranks, bytes;
  int barriers = 0, milliseconds = 0, barrier_seconds = 0, passes = 0;
  places where{{}, "ssh", "127.0.0.1"};
};

inline const std::vector<std::string> all_parts = {"barrier", "latency", "throughput", "broadcast",
                                                   "pairs"};

// Throws apps::usage_error if something that is asked for is none of the names.
plan plan_of(const choice& asked);

// One start of the program that measures, with so many ranks.
struct run {
  std::string network;
  int ranks = 0;
  std::vector<std::string> arguments;
};

// The runs of one pass. Neighbours are the networks, with as many ranks; every second pass runs
// backwards.
std::vector<run> runs_of(const plan& p, int pass);

}  // namespace study::networks
