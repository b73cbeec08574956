#pragma once

#include "result.hpp"
#include "system.hpp"

namespace bench {

// Runs once() some times, once more before to warm up; it returns its answer, in words. Expects r.expected.
template <class Once>
void rounds(result& r, const settings& with, const Once& once) {
  const int wanted = with.rounds > 0 ? with.rounds : 1;
  for (int round = -1; round < wanted; round++) {
    const double begin = now();
    const std::uint64_t clocks = cycles();
    r.answer = once();
    if (r.answer != r.expected) return;
    if (round < 0) continue;
    r.cycles.push_back(static_cast<double>(cycles() - clocks) / (r.tasks > 0 ? r.tasks : 1));
    r.seconds.push_back(now() - begin);
  }
}

}  // namespace bench
