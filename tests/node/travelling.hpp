#pragma once

#include "node/driver.hpp"

#include "core/pool.hpp"
#include "core/requests.hpp"
#include "node/nodes/loopback.hpp"
#include "node/other_nodes.hpp"

#include <cleave/call.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

/// What the tests of several nodes in one process share: programs, and what is known of their
/// tasks.
namespace cleave::tests {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

inline std::atomic<const detail::pool*> root_pool{nullptr};
inline bool elsewhere() {
  const detail::worker* const w = detail::here.self;
  return w != nullptr && &w->of != root_pool;
}

/// Tasks that began on another node than the root's.
inline std::atomic<int> travelled{0};
inline void note_arrival() {
  if (elsewhere()) travelled.fetch_add(1);
}
/// Polls until so many have begun there: a request of another node finds something to give.
inline bool await_travellers(int n = 1) {
  const auto end = clock::now() + 20s;
  while (travelled < n && clock::now() < end) poll();
  return travelled >= n;
}
template <class Holds>
bool soon(Holds holds) {
  const auto end = clock::now() + 20s;
  while (!holds() && clock::now() < end) std::this_thread::sleep_for(100us);
  return holds();
}

class nodes : public testing::Test {
protected:
  void SetUp() override { travelled = 0; }
  template <class F>
  static auto run(job& j, F f) {
    root_pool = j.root().pool();
    return j.root().run(std::move(f));
  }
};

/// Takes about so long.
inline void compute(microseconds some) {
  const auto end = clock::now() + some;
  while (clock::now() < end) {}
}

inline long fib(int n) {
  struct rest {
    int n = 0;
    auto input() { return std::tie(n); }
    long run() {
      note_arrival();
      return fib(n);
    }
  };
  if (n < 2) {
    compute(2us);
    return n;
  }
  auto [x, y] = both([n] { return fib(n - 1); }, rest{n - 2});
  return x + y;
}

inline std::atomic<int> running{0};
struct endless_task {
  auto input() { return std::tie(); }
  int run() {
    struct counted {
      counted() { ++running; }
      ~counted() { --running; }
    } here_it_is;
    note_arrival();
    for (;;) {
      poll();
      std::this_thread::yield();
    }
  }
};

}  // namespace cleave::tests
