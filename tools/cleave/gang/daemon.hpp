// The gang's daemon: it says to each job's keeper when the job's turns are. It stops no process
// itself, so nothing stays stopped when it dies: every keeper sees its end, continues its job, and
// asks the next daemon for turns.
#pragma once

#include <chrono>
#include <string>

namespace gang {

struct daemon_settings {
  std::string socket;
  std::chrono::milliseconds slice{100};
  std::string join;  // a key file; "": this node is alone
  std::string log;   // a file for all that keepers do, a line of JSON each; "": none
};

// Runs until SIGINT or SIGTERM; returns the exit status. Throws apps::usage_error if it cannot
// begin.
int run_daemon(const daemon_settings& what);

}  // namespace gang
