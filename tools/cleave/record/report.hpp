// What `cleave record` tells of a run: in words, as JSON, and as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record/analysis.hpp"
#include "record/job.hpp"

namespace record {

struct report {
  job of;
  std::vector<std::string> names;  // of the sites
  analysis found;
  double span = 0;              // seconds
  double without_messages = 0;  // how long the run would take over a network that costs nothing
  double forecast = 0;          // how long `cleave plan` says that this run takes
};

void print(const report& r, const std::string& file);
std::string to_json(const report& r);
// With the timelines of all ranks.
std::string page(const report& r);

}  // namespace record
