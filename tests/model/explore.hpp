#pragma once

#include "explorer.hpp"
#include "platform.hpp"

#include <gtest/gtest.h>

#include <cstdio>

/// What a test says of a World.
namespace model {

/// How often the scheduler may interfere: as World::preemptions says, or at most twice among three
/// threads, which have too many schedules.
template <class World>
unsigned interference() {
  if constexpr (requires { World::preemptions; }) return World::preemptions;
  else return World::threads() == 2 ? explorer::unbounded : 2;
}

template <class World>
outcome explore(fault f, unsigned most) {
  broken = f;
  const outcome o = explorer().explore<World>(most);
  broken = fault::none;
  std::printf("%zu states, %zu steps", o.states, o.steps);
  if (most != explorer::unbounded) std::printf(", at most %u preemptions", most);
  std::printf("\n");
  return o;
}

/// No schedule with at most so many preemptions violates it, and there are some.
template <class World>
void holds_with(unsigned preemptions, std::size_t states = 1000) {
  const outcome o = explore<World>(fault::none, preemptions);
  EXPECT_EQ(o.given_up, "");
  EXPECT_EQ(o.violation, "") << o.schedule;
  EXPECT_GT(o.states, states);
}
/// The same of all schedules, as far as there are not too many.
template <class World>
void holds(std::size_t states = 1000) {
  holds_with<World>(interference<World>(), states);
}

/// Breaks one thing; the explorer must say so.
template <class World>
void finds(fault f, unsigned most = interference<World>()) {
  const outcome o = explore<World>(f, most);
  EXPECT_EQ(o.given_up, "");
  EXPECT_NE(o.violation, "");
  std::printf("%s. A shortest schedule:\n%s", o.violation.c_str(), o.schedule.c_str());
}

}  // namespace model
