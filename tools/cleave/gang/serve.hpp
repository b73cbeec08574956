// The gang's daemon: one thread that says to each job's keeper when the job's turn is. It stops no
// process itself, so nothing stays stopped when it dies: every keeper sees its end and continues
// its job.
#pragma once

#include <chrono>
#include <string>

namespace gang {

// Serves until SIGINT or SIGTERM; returns the exit status. Throws apps::usage_error if it cannot
// begin.
int serve(const std::string& socket, std::chrono::milliseconds slice);

}  // namespace gang
