#pragma once

#include "cosched/spin_time.hpp"

namespace cleave::cosched {

/// What it costs on this machine to give up a CPU and get it back. Lower quartiles; both are
/// measured between two threads that block by turns, some milliseconds in all.
struct costs {
  nanoseconds context_switch;  // the time from one thread to another on one CPU
  nanoseconds wake;  // the time from the call that wakes to running on another CPU, which was idle
};

/// Measures, and takes at most `longest` about it. Throws nothing: what cannot be measured is the
/// usual value; so is the wake-up where others took the CPUs meanwhile, because then none was idle.
costs measure_costs(nanoseconds longest) noexcept;

}  // namespace cleave::cosched
