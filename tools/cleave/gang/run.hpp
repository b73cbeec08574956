// A job of the gang: its keeper stops and continues it as the daemon says.
#pragma once

#include <string>
#include <vector>

namespace gang {

struct job_settings {
  std::string socket;         // the daemon's socket
  bool socket_given = false;  // --socket names it: it is the same on other nodes
  std::string stop_by;        // the kind of freezer (freezer.hpp)
  std::string name;           // the job that this is a part of; "": a new one
  bool all = false;           // the job ends with its last process, not with its first
  std::string remote_shell;   // what reaches other nodes; "": what was set before, or ssh
  std::vector<std::string> command;
};

// Queues a command and returns its exit status when it has ended; 128 and the signal's number if a
// signal ended it. Its input and output are this process's. Throws apps::usage_error if there is no
// daemon, or `stop_by` is not there.
int run(const job_settings& job);

}  // namespace gang
