// What a kernel found and how long it took.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

// A kernel that cannot say anything: its tasks did not run at the same time, or there are too few
// workers.
struct kernel_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class size { quick, full };

struct settings {
  int workers = 1;
  bench::size size = bench::size::quick;
  int rounds = 0;        // 0: as many as the kernel wants
  bool account = false;  // tell where the time went
  bool profile = false;  // measure work and span, on one worker
};

// Where the workers' time goes, in seconds (accounting.hpp): what passed in run(), and the parts
// that are known of the time of all workers together.
struct shares {
  double elapsed = 0, work = 0, api = 0, stolen = 0;
};

// What a program is, whoever runs it (the paper's T1 and T-infinity), in seconds.
struct work_span {
  double work = 0, span = 0;
};

struct result {
  std::string arguments;         // the kernel's arguments, in words
  std::string answer, expected;  // equal if it is right
  double tasks = 0;              // the tasks of a round; 0: nothing is to be said for each task
  std::vector<double> seconds;   // the time of each round; the warm-up rounds are left out
  std::vector<double> cycles;    // the cycles of each round, for each task where tasks are counted
  std::map<std::string, std::vector<double>> series;  // what else a kernel measured, in cycles
  double work = 0, span = 0;            // T1 and T-infinity in cycles, where there is a closed form
  std::optional<bench::shares> shares;  // the average of a round, if the system tells
  std::optional<bench::work_span> profile;  // the round with the shortest span, if the system tells
};

}  // namespace bench
