#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/world.hpp"

/// Random schedules of faults. Everything follows from one number: the tree, the nodes, the
/// network, what goes wrong and when.
namespace sim {

struct schedule {
  tree work;
  world_settings world;
  std::vector<happening> happenings;
  instant limit{};
};

schedule random_schedule(std::uint64_t seed);

/// Runs one schedule from beginning to end. With `logs`, the report has every event.
report run_schedule(std::uint64_t seed, net::mutation planted = net::mutation::none,
                    bool logs = false);

/// How many of these seeds fail, and the first that does.
struct summary {
  std::uint64_t run = 0, failed = 0, first_failed = 0;
  std::string violation;
  std::uint64_t events = 0, messages = 0, tasks = 0;
};
summary run_schedules(std::uint64_t first, std::uint64_t count,
                      net::mutation planted = net::mutation::none, bool stop_at_first = false);

struct named_mutation {
  net::mutation what;
  const char* name;
};
const std::vector<named_mutation>& planted_mutations();

}  // namespace sim
