// The CPUs that the study runs on.
#pragma once

#include <vector>

namespace study {

// The CPUs that this process may use.
std::vector<int> cpus_allowed();
// Makes the calling thread, and the processes that it starts, run on these CPUs alone from then on.
void run_only_on(const std::vector<int>& cpus);

// Runs loops that touch no memory on one of these CPUs, and then on all at the same time. Returns
// the sum of their speeds, in times that of the one. It is less than their number where CPUs share
// a core, or the machine is not ours alone. Takes a tenth of a second.
double capacity(const std::vector<int>& cpus);

}  // namespace study
