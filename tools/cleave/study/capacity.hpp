// How much more all CPUs do at once than one of them.
#pragma once

#include <vector>

namespace study {

// Loops that touch no memory, on one of these CPUs and then on all at the same time: the sum of their speeds, in times that of
// the one. It is less than their number where CPUs share a core, or the machine is not ours alone. Takes a tenth of a second.
double capacity(const std::vector<int>& cpus);

}  // namespace study
