// The experiment on co-scheduling: jobs that share a machine, under each way to share it.
#pragma once

#include <filesystem>
#include <functional>

#include "cosched_data.hpp"

namespace study::sharing {

struct plan {
  std::filesystem::path cleave;    // this command; the programs are beside it
  std::string mpi;                 // openmpi or mpich; empty: the first that is here
  std::vector<std::string> parts;  // empty: all
  bool quick = false;
  int passes = 0;  // 0: 1 when quick, else 3
};

extern const std::vector<std::string> all_parts;

// progress(done, all) is called before each run, and when all are done. On SIGINT returns what
// there is by then. Throws std::runtime_error if jobs cannot be started, or nothing was measured
// yet.
measured run(const plan& what, const std::function<void(int done, int all)>& progress);

}  // namespace study::sharing
