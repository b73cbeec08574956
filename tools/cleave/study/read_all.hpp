// Reads what the processes of a run say, until they have ended or nobody waits for them any more.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

#include "process.hpp"

namespace study {

using deadline = std::chrono::steady_clock::time_point;
struct out_of_time : std::runtime_error {
  out_of_time() : std::runtime_error("out of time") {}
};

using processes = std::vector<std::unique_ptr<process>>;

// Returns false if they say nothing for five minutes. Throws std::runtime_error if the study was
// interrupted, and out_of_time after the deadline.
bool read_all(const processes& all, deadline last);

}  // namespace study
