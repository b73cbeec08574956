// What a task system's program is made of: every kernel on that system. bench/systems/NAME.cpp ends
// with CLEAVE_STUDY_PROGRAM(its system); program.cpp, which knows no system, reads the arguments
// and prints.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "accounting.hpp"
#include "micro.hpp"
#include "recursive.hpp"
#include "tree.hpp"

namespace bench {

// Starts the system, runs the kernel on it. Throws kernel_error if that says nothing.
using kernel_run = result (*)(const settings&);

struct kernel {
  const char* name;
  kernel_run timed;
  // Runs the kernel and tells where the time goes; null for the microscopic kernels, where that is
  // not asked.
  kernel_run accounted;
};

// The program of one system.
struct system_program {
  const char* name;
  std::string version;
  std::vector<kernel> kernels;
  bool profiles;  // whether the system measures work and span
};

// Runs one kernel and prints one JSON object. Returns the exit status: 0, also if the answer is
// wrong or the kernel could not say anything, which the object tells; 2 if the arguments are wrong.
int run_program(const system_program& of, int argc, char** argv);

// Called where a system cannot go on and no exception would reach run_program: prints the object
// that says why, and ends the process.
[[noreturn]] void give_up(const char* system, const std::string& version, const char* why);

// How many tasks run at the same time when one more than `workers` would like to. It should be
// `workers`: then one more has a hundredth of a second to show up. On a busy machine a worker may
// take longer to come to a processor.
template <task_system S>
int workers_seen(S& system, int workers) {
  std::atomic<int> running{0}, most{0};
  std::atomic<double> give_up{now() + 1};
  system.run([&] {
    for_each<S>(workers + 1, [&, wanted = workers + 1](int) {
      const int n = ++running;
      for (int seen = most; seen < n && !most.compare_exchange_weak(seen, n);) {}
      if (n == workers) give_up = now() + 0.01;
      while (most < wanted && now() < give_up) relax<S>();
      running--;
    });
  });
  return most;
}

// A system that measures something itself is told whether to.
template <task_system S>
S started(const settings& with) {
  if constexpr (std::constructible_from<S, const settings&>) return S(with);
  else return S(with.workers);
}

template <task_system S, template <class> class Kernel>
result run_kernel(const settings& with) {
  S system = started<S>(with);
  if (const int seen = workers_seen(system, with.workers); seen != with.workers)
    throw kernel_error(std::to_string(seen) + " tasks at once");
  return Kernel<S>::run(system, with);
}

template <task_system S, template <class> class Kernel>
kernel microscopic() {
  return {Kernel<S>::name, &run_kernel<S, Kernel>, nullptr};
}
// A whole program. Where it tells of the time, it has clocks around the tasks; but a system that
// says itself where its time went has none.
template <task_system S, template <class> class Kernel>
kernel whole() {
  if constexpr (has_shares<S>)
    return {Kernel<S>::name, &run_kernel<S, Kernel>, &run_kernel<S, Kernel>};
  else return {Kernel<S>::name, &run_kernel<S, Kernel>, &run_kernel<accounted<S>, Kernel>};
}

template <task_system S>
system_program program() {
  return {S::name,
          S::version(),
          {microscopic<S, spawn>(), microscopic<S, migrate>(), microscopic<S, spread>(),
           whole<S, tree_1>(), whole<S, tree_2>(), whole<S, fib>(), whole<S, queens>(),
           whole<S, uts>(), whole<S, skynet>(), whole<S, matmul>()},
          has_profile<S>};
}

}  // namespace bench

#define CLEAVE_STUDY_PROGRAM(system)                                 \
  int main(int argc, char** argv) {                                  \
    return bench::run_program(bench::program<system>(), argc, argv); \
  }
