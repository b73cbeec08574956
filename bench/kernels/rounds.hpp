#pragma once

#include "result.hpp"
#include "system.hpp"

namespace bench {

// Runs once() some times, once more before to warm up; it returns its answer, in words. Expects
// r.expected.
template <task_system S, class Once>
void rounds(result& r, S& system, const settings& with, const Once& once) {
  const int wanted = with.rounds > 0 ? with.rounds : 1;
  shares before;
  for (int round = -1; round < wanted; round++) {
    work_span so_far;
    if constexpr (has_profile<S>) so_far = system.profile();
    const double begin = now();
    const std::uint64_t clocks = cycles();
    r.answer = once();
    if (r.answer != r.expected) return;
    if (round < 0) {
      if constexpr (has_shares<S>) before = system.shares();
      continue;
    }
    r.cycles.push_back(static_cast<double>(cycles() - clocks) / (r.tasks > 0 ? r.tasks : 1));
    r.seconds.push_back(now() - begin);
    if constexpr (has_profile<S>) {
      const work_span all = system.profile();
      const work_span one{all.work - so_far.work, all.span - so_far.span};
      if (with.profile && (!r.profile || one.span < r.profile->span)) r.profile = one;
    }
  }
  if constexpr (has_shares<S>) {
    const shares all = system.shares();
    auto each = [&](double shares::*part) { return (all.*part - before.*part) / wanted; };
    r.shares = {each(&shares::elapsed), each(&shares::work), each(&shares::api),
                each(&shares::stolen)};
  }
}

}  // namespace bench
