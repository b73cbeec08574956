#include "machine/on_cpu.hpp"

namespace cleave::machine {

on_cpu::on_cpu(int cpu) noexcept {
  if (cpu < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  const auto n = static_cast<unsigned>(cpu);
  if (!CPU_ISSET(n, &before_)) return;
  CPU_ZERO(&there_);
  CPU_SET(n, &there_);
  bound_ = sched_setaffinity(0, sizeof there_, &there_) == 0;
}

/// Leaves a mask alone that somebody has changed meanwhile, who knows better.
on_cpu::~on_cpu() {
  cpu_set_t is;
  if (bound_ && sched_getaffinity(0, sizeof is, &is) == 0 && CPU_EQUAL(&is, &there_))
    sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace cleave::machine
