// What the workers of each rank do during a run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace apps::md {

// Seconds of all workers of one rank together.
struct rank_times {
  double computing = 0;      // forces, lists, motion
  double communicating = 0;  // what is told is written and read; in synchronous steps it travels
  double waiting = 0;        // all other time
};

// Adds up the time of subtasks, which run on several workers.
class times_of_rank {
public:
  // f(), whose time is computing or communicating.
  template <class F>
  void compute(const F& f) {
    add(computing_, f);
  }
  template <class F>
  void communicate(const F& f) {
    add(communicating_, f);
  }
  // f(), in which all workers of the rank do nothing but send and receive.
  template <class F>
  void travel(const F& f) {
    add(travel_, f);
  }
  // f() is the whole run.
  template <class F>
  void run(const F& f) {
    add(elapsed_, f);
  }
  rank_times total(int workers) const {
    rank_times t{seconds(computing_), seconds(communicating_) + workers * seconds(travel_), 0};
    t.waiting = std::max(0.0, workers * seconds(elapsed_) - t.computing - t.communicating);
    return t;
  }

private:
  using clock = std::chrono::steady_clock;
  using counter = std::atomic<std::int64_t>;
  template <class F>
  static void add(counter& to, const F& f) {
    const auto begin = clock::now();
    f();
    const std::chrono::nanoseconds past = clock::now() - begin;
    to.fetch_add(past.count(), std::memory_order_relaxed);  // read after the graph's wait
  }
  static double seconds(const counter& c) {
    return 1e-9 * static_cast<double>(c.load(std::memory_order_relaxed));
  }

  counter computing_{0}, communicating_{0}, travel_{0}, elapsed_{0};
};

// What a simulation on nodes finds.
template <class State>
struct run_result {
  std::vector<State> states;
  std::vector<rank_times> times;  // of each rank
  friend bool operator==(const run_result& a, const run_result& b) { return a.states == b.states; }
};

}  // namespace apps::md
