#include "machine/on_cpu.hpp"

namespace cleave::machine {

on_cpu::on_cpu(int cpu) noexcept {
  if (cpu < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  const auto n = static_cast<unsigned>(cpu);
  if (!CPU_ISSET(n, &before_)) return;
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(n, &there);
  bound_ = sched_setaffinity(0, sizeof there, &there) == 0;
}

on_cpu::~on_cpu() {
  if (bound_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace cleave::machine
