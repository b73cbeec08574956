// One computation in its two forms, the plain sequential program and the one with constructs.
#pragma once

#include <functional>
#include <utility>

#include "answer.hpp"
#include "measure.hpp"

namespace apps {

struct outcome {
  measurement cost;
  answer found;
};

// Runs one of the two, the plain program if there are no workers, and reports.
using trial = std::function<outcome(cleave::runtime* workers)>;

// The programs are called as f() or f(stopwatch&); report(result) makes an answer of what they return.
template <class Sequential, class Parallel, class Report>
trial make_trial(Sequential sequential, Parallel parallel, Report report) {
  return [=](cleave::runtime* workers) {
    auto told = [&](const auto& run) { return outcome{run.first, report(run.second)}; };
    return workers != nullptr ? told(timed(*workers, parallel)) : told(timed(sequential));
  };
}

}  // namespace apps
