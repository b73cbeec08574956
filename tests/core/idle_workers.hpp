#pragma once

#include "core/pool.hpp"

#include <cleave/cleave.hpp>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <thread>

/// What has all other workers of a runtime ask at the same time. Called in a run.
namespace cleave::tests {

/// Has each worker run a part, so that none of them still looks for the task of this `run`: what it
/// asks for after that, it waits for.
inline void have_all_compute() {
  const auto workers = static_cast<int>(detail::here.self->of.size());
  std::atomic<std::uint64_t> seen{0};
  each(0, 30'000, [&seen, workers](int) {
    seen |= std::uint64_t{1} << detail::here.self->id;
    if (std::popcount(seen.load()) < workers)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

/// Whether the worker's request can be found. A bit alone may be that of a request which its worker
/// has just taken back.
inline bool asks_for_anything(const detail::pool& of, unsigned worker) {
  const detail::request posted = of.meeting.box(worker).posted();
  return detail::is_asking(posted) && detail::wanted_by(posted) == nullptr &&
         of.meeting.askers.visit(worker, [worker](unsigned i) { return i == worker; });
}

/// Waits until all workers ask but the caller, and the one in whose place it computes. After
/// have_all_compute() they go on asking.
inline void await_idle_workers() {
  const detail::worker& self = *detail::here.self;
  for (unsigned i = 0; i < self.of.size(); ++i) {
    if (i == self.id || (self.of.is_reserve(self.of.at(i)) && self.of.guests->is_here())) continue;
    while (!asks_for_anything(self.of, i)) std::this_thread::yield();
  }
}

}  // namespace cleave::tests
