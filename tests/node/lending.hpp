#pragma once

#include "node/team_of.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

/// Graphs of a team whose idle nodes are lent subtasks.
namespace cleave::tests {

using value = std::uint64_t;

inline auto lending_shapes() {
  return testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{2, 2, 0us}, shape{3, 1, 200us},
                         shape{5, 2, 0us});
}

/// Subtasks that ran on another node than the one that has their place.
inline std::atomic<int> lent{0};

inline void compute(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

/// Calls f with a graph whose nodes lend, or whose nodes do not.
template <class F>
void with_graph(team& all, bool is_dynamic, F f) {
  if (is_dynamic) {
    team_graph g(all, dynamic);
    f(g);
  } else {
    team_graph g(all);
    f(g);
  }
}

}  // namespace cleave::tests
