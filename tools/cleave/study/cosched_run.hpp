// The experiment on co-scheduling: jobs that share a machine, under each way to share it.
#pragma once

#include <filesystem>
#include <functional>

#include "cosched_cases.hpp"
#include "cosched_data.hpp"
#include "forecast.hpp"

namespace study::sharing {

struct settings {
  std::filesystem::path cleave;  // this command; the programs are beside it
  std::string mpi;               // openmpi or mpich; empty: the first that is here
  choice what;
  int seconds = 0;     // about what a job takes alone; 0: 0.2 when quick, else 1.2
  int passes = 0;      // 0: 1 when quick, else 3
  int time_limit = 0;  // seconds; 0: none
};

// What the experiment calls before and between the runs.
struct listener {
  // Told what is done, and about how long it takes.
  std::function<void(const std::string&)> planned;
  std::function<void(const step&)> begins;    // called before each run, and once at the end
  std::function<void(const measured&)> keep;  // told what there is so far
};

// Runs the experiment. On SIGINT, SIGTERM and after the time limit it returns what there is by
// then. Throws std::runtime_error if jobs cannot be started, or nothing was measured yet.
measured run(const settings& asked, const listener& to);

}  // namespace study::sharing
