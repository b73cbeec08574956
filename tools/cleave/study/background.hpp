// What else the machine did while a study ran: figures of a busy machine compare nothing.
#pragma once

#include <string>
#include <vector>

namespace study {

struct background {
  double load_before = 0, load_after = 0;  // the kernel's load average over a minute
  double others = 0;                       // CPUs that other processes used, on average
  double stolen = 0;                       // CPUs that the hypervisor gave to other machines
  // The capacity of all CPUs, in times that of one (cpus.hpp), before and after the study and
  // between its parts.
  std::vector<double> capacity;

  // Why nothing may be concluded from such a run on that many CPUs; empty if the machine was quiet.
  // A machine is quiet if others and the hypervisor take 1/20 of the CPUs each at most, and the
  // capacities differ by a factor of 1.2 at most.
  std::string disturbance(int cpus) const;
};

// The time of some CPUs together, in seconds since the start of the machine.
struct cpu_time {
  double used = 0, stolen = 0;
};
// The time of these CPUs, from the text of /proc/stat; nothing where it does not tell.
cpu_time read_stat(const std::string& text, const std::vector<int>& cpus, double ticks_per_second);

// Watches the CPUs that this process may use when it is made.
class background_watch {
public:
  background_watch();
  void measure_capacity();
  // What there was until now. The processes that the study started count as others until they were
  // waited for.
  background so_far() const;

private:
  std::vector<int> cpus_;
  double began_ = 0;  // in seconds of the clock that no one sets
  cpu_time at_begin_;
  double own_at_begin_ = 0;
  background found_;
};

}  // namespace study
