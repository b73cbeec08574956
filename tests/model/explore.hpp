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
verdict explore(fault f, unsigned most) {
  broken = f;
  const verdict found = explorer().explore<World>(most);
  broken = fault::none;
  std::printf("%zu states, %zu steps", found.states, found.steps);
  if (most != explorer::unbounded) std::printf(", at most %u preemptions", most);
  std::printf("\n");
  return found;
}

/// No schedule with at most so many preemptions violates it, and there are some.
template <class World>
void holds_with(unsigned preemptions, std::size_t states = 1000) {
  const verdict found = explore<World>(fault::none, preemptions);
  EXPECT_EQ(found.given_up, "");
  EXPECT_EQ(found.violation, "") << found.schedule;
  EXPECT_GT(found.states, states);
}
/// The same of all schedules, as far as there are not too many.
template <class World>
void holds(std::size_t states = 1000) {
  holds_with<World>(interference<World>(), states);
}

/// Breaks one thing; the explorer must say so.
template <class World>
void finds(fault f, unsigned most = interference<World>()) {
  const verdict found = explore<World>(f, most);
  EXPECT_EQ(found.given_up, "");
  EXPECT_NE(found.violation, "");
  std::printf("%s. A shortest schedule:\n%s", found.violation.c_str(), found.schedule.c_str());
}

}  // namespace model
