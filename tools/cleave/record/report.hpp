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
  // Seconds: the longest path, what `cleave plan` says of this run, and if MPI took no time.
  double span = 0, forecast = 0, without_mpi = 0;
};

void print(const report& r, const std::string& file);
std::string to_json(const report& r);
// The page has the timelines of all ranks, too.
std::string page(const report& r);

}  // namespace record
