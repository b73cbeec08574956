// Reads what the processes of a run say, until they have ended or nobody waits for them any more.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
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

// Runs one process, whose errors go into a file, and returns what it says. Throws as read_all(),
// and std::runtime_error if the process is silent for five minutes or fails.
std::string said_by(const std::vector<std::string>& command, const std::filesystem::path& errors,
                    deadline last);
// Why a run failed whose process ended with that status.
std::string failure_of(int status, const std::filesystem::path& errors);
inline constexpr const char* silent = "says nothing for five minutes";

}  // namespace study
