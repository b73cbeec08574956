// `cleave submit`: a job for the machines that offer its program.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace sites {

struct submission {
  std::string where, program;
  std::vector<std::string> arguments;
  // The machine where it begins, as site.name; empty: the one that has least to do.
  std::string root;
  std::chrono::seconds patience;
  int restarts;  // how often it may begin again, on another server, when its root's server is lost
  bool json;
  std::string ask = {};  // CLEAVE_ASK of the job's nodes; empty: each server's own
};

// Blocks until the job is over. Returns its exit status, or 3 if the server that had its root is
// lost and it does not begin again, 130 if this process was told to end. Throws
// std::invalid_argument, std::runtime_error.
int submit(const submission& what);

}  // namespace sites
