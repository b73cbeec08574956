// Starts the programs that measure, as mpirun or a relay's nodes, here or on other hosts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "net_cases.hpp"
#include "process.hpp"
#include "read_all.hpp"

namespace study::networks {

// What a run gave.
struct outcome {
  std::vector<cell> cells;  // each with one value
  std::string failed;       // why it did not come to its end; empty if it did
};

class starter {
public:
  // `cleave` is this command; the programs and the plug-ins are where it finds them.
  explicit starter(std::filesystem::path cleave);

  // Why this network cannot be measured here; empty if it can be.
  std::string missing(const std::string& network) const;
  // Runs it to its end, or until it says nothing for long. Throws std::runtime_error if it cannot
  // be started or the study was interrupted, and out_of_time after the deadline. No process is
  // left.
  outcome outcome_of(const run& r, const plan& p, deadline last);

private:
  std::string program_of(const std::string& network) const;

  std::filesystem::path cleave_, programs_;
  scratch work_;
};

}  // namespace study::networks
