// Runs the kernels: every one on every system with every number of workers, some passes, in an
// order that rotates.
#pragma once

#include <functional>

#include "measured.hpp"

namespace study {

struct settings {
  std::string folder;  // the folder of the systems' programs, with systems.json
  std::vector<std::string> kernels, systems;  // empty: all
  std::vector<int> workers;                   // empty: 1, 2, 4, ... and all CPUs
  bool quick = false;
  int passes = 0;  // 0: 2 when quick, else 5
};

extern const std::vector<std::string> all_kernels;

// Runs the study; progress(done, all) is called before each run, and when all are done. On SIGINT
// it returns what there is by then. Throws std::runtime_error if there is no system, or nothing
// yet.
measured run(const settings& what, const std::function<void(int done, int all)>& progress);

}  // namespace study
