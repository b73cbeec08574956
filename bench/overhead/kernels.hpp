// What is measured.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/trial.hpp"

namespace overhead {

// fib and uts on Lace, if it was found. None starts and stops its workers within the time that is
// measured.
apps::outcome lace_fib(int workers);
apps::outcome lace_uts(std::string_view tree, int workers);

struct kernel {
  std::string name;
  std::string baseline;  // another kernel whose T_S is compared with; or empty
  std::function<apps::outcome(int workers)> run;  // 0 workers: the plain sequential program
};

// `workers` is what T_P stands for: only one worker, that many, and none are run.
std::vector<kernel> all_kernels(int workers);

// The time from the moment at which new work exists to the one at which a sleeping worker runs it.
struct latency {
  double median, high;  // seconds; `high` is the 99th of 100
};
latency wake_up(int workers);

// CPU seconds per second of a process whose workers are all idle but one, which is busy in a long
// sequential stretch.
double idle_cpu(int workers);

// What one call takes on one worker, in seconds.
struct call_cost {
  std::string name;
  double seconds;
};
std::vector<call_cost> call_costs();

// A loop over so many floats, again and again: as a plain loop; divisible, all in one run; and each
// in a run of its own. In seconds.
struct short_loop {
  int elements;
  double plain, in_one_run, run_each;
};
std::vector<short_loop> short_loops(int workers);

}  // namespace overhead
