// One computation in its two forms, the plain sequential program and the one with constructs; how
// it is timed is in measure.hpp.
#pragma once

#include <cstdint>
#include <functional>

#include "answer.hpp"

namespace cleave {
class runtime;
}

namespace apps {

struct measurement {
  double seconds = 0;
  double cpu_seconds = 0;  // the CPU time of all threads of all processes
  std::uint64_t splits = 0;
  std::uint64_t requests = 0;
};

struct outcome {
  measurement cost;
  answer found;
};

// Runs one of the two, the plain program if there are no workers, and reports.
using trial = std::function<outcome(cleave::runtime* workers)>;

}  // namespace apps
