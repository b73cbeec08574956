// The CPUs that the study runs on.
#pragma once

#include <vector>

namespace study {

// Those that this process may use.
std::vector<int> cpus_allowed();
// From now on the calling thread, and the processes it starts, run on these alone.
void run_only_on(const std::vector<int>& cpus);

// Loops that touch no memory, on one of these CPUs and then on all at the same time: the sum of
// their speeds, in times that of the one. It is less than their number where CPUs share a core, or
// the machine is not ours alone. Takes a tenth of a second.
double capacity(const std::vector<int>& cpus);

}  // namespace study
