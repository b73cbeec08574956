// A job of the gang: its keeper stops and continues it as the daemon says.
#pragma once

#include <string>
#include <vector>

namespace gang {

// Queues a command and returns its exit status when it has ended; 128 and the signal's number if a
// signal ended it. Its input and output are this process's. Throws apps::usage_error if there is no
// daemon, or `stop_by` (freezer.hpp) is not there.
int run(const std::string& socket, const std::string& stop_by,
        const std::vector<std::string>& command);

}  // namespace gang
