// What a computation costs: its time, the processor's time, and how often it was divided.
#pragma once

#include <time.h>

#include <chrono>
#include <cleave/cleave.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "trial.hpp"

namespace apps {

// A computation that prepares its input (a copy to sort) or looks at its result takes one of these,
// and leaves the one out by restart() and the other by stop().
class stopwatch {
public:
  void restart() {
    start_ = clock::now();
    cpu_start_ = cpu_now();
  }
  void stop() {
    if (stopped_) return;
    stopped_ = true;
    seconds_ = std::chrono::duration<double>(clock::now() - start_).count();
    cpu_seconds_ = cpu_now() - cpu_start_;
  }
  double seconds() const { return seconds_; }
  double cpu_seconds() const { return cpu_seconds_; }

private:
  using clock = std::chrono::steady_clock;
  static double cpu_now() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  clock::time_point start_ = clock::now();
  double cpu_start_ = cpu_now();
  double seconds_ = 0, cpu_seconds_ = 0;
  bool stopped_ = false;
};

// f() or f(stopwatch&), timed.
template <class F>
auto timed(const F& f) {
  measurement cost;
  stopwatch time;
  auto call = [&] {
    if constexpr (std::is_invocable_v<const F&, stopwatch&>) {
      return f(time);
    } else {
      return f();
    }
  };
  auto result = call();
  time.stop();
  cost.seconds = time.seconds();
  cost.cpu_seconds = time.cpu_seconds();
  return std::pair(cost, std::move(result));
}

// Adds what all processes of the job did between two moments.
inline void add_job(measurement& cost, const cleave::job_statistics& before,
                    const cleave::job_statistics& after) {
  cost.splits = after.splits - before.splits;
  cost.requests = after.requests - before.requests;
  if (after.nodes > 1) cost.cpu_seconds = after.cpu_seconds - before.cpu_seconds;
}

// f() or f(stopwatch&), timed on a worker of `on`, with the help of the others. Only the result is
// compared under CLEAVE_CHECK, where f runs twice and the first run is the one that is measured.
template <class F>
auto timed(cleave::runtime& on, const F& f) {
  const auto before = on.job();
  measurement cost;
  bool first = true;
  auto result = on.run([&] {
    auto [this_time, answer] = timed(f);
    if (first) cost = this_time;
    first = false;
    return std::move(answer);
  });
  add_job(cost, before, on.job());
  return std::pair(cost, std::move(result));
}

// What one node measured of a task that all nodes ran. Under CLEAVE_CHECK only what was found is
// compared.
template <class Result>
struct team_result {
  measurement cost;
  Result found;
  friend bool operator==(const team_result& a, const team_result& b) { return a.found == b.found; }
};

// The parallel program is a task of all nodes, whose run() returns a team_result.
template <class Sequential, class Parallel, class Report>
trial make_team_trial(Sequential sequential, Parallel parallel, Report report) {
  return [=](cleave::runtime* workers) {
    if (workers == nullptr) {
      auto [cost, found] = timed(sequential);
      return outcome{cost, report(found)};
    }
    const auto before = workers->job();
    auto [cost, found] = workers->run_on_all(parallel);
    add_job(cost, before, workers->job());
    return outcome{cost, report(found)};
  };
}

// The programs are called as f() or f(stopwatch&); report(result) makes an answer of what they
// return.
template <class Sequential, class Parallel, class Report>
trial make_trial(Sequential sequential, Parallel parallel, Report report) {
  return [=](cleave::runtime* workers) {
    auto told = [&](const auto& run) { return outcome{run.first, report(run.second)}; };
    return workers != nullptr ? told(timed(*workers, parallel)) : told(timed(sequential));
  };
}

}  // namespace apps
