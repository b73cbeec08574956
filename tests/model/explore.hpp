#pragma once

#include "explorer.hpp"
#include "platform.hpp"

#include <gtest/gtest.h>

#include <cstdio>

/// What a test says of a World.
namespace model {

/// Three threads have too many schedules: there the scheduler interferes at most twice, or as often
/// as World::preemptions says.
template <class World>
outcome explore(fault f) {
  unsigned most = World{}.threads() == 2 ? explorer::unbounded : 2;
  if constexpr (requires { World::preemptions; }) most = World::preemptions;
  broken = f;
  const outcome o = explorer().explore<World>(most);
  broken = fault::none;
  std::printf("%zu states, %zu steps", o.states, o.steps);
  if (most != explorer::unbounded) std::printf(", at most %u preemptions", most);
  std::printf("\n");
  return o;
}

/// No schedule violates it, and there are some.
template <class World>
void holds(std::size_t states = 1000) {
  const outcome o = explore<World>(fault::none);
  EXPECT_EQ(o.violation, "") << o.schedule;
  EXPECT_GT(o.states, states);
}

/// Breaks one thing; the explorer must say so.
template <class World>
void finds(fault f) {
  const outcome o = explore<World>(f);
  EXPECT_NE(o.violation, "");
  std::printf("%s. A shortest schedule:\n%s", o.violation.c_str(), o.schedule.c_str());
}

}  // namespace model
