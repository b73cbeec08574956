#pragma once

#include <sched.h>

namespace cleave::machine {

/// As long as this lives, the calling thread runs on that CPU only; then wherever it might before.
/// -1, or a CPU that it may not use: nothing changes. Two system calls to begin, two to end.
class on_cpu {
public:
  explicit on_cpu(int cpu) noexcept;
  ~on_cpu();
  on_cpu(const on_cpu&) = delete;
  on_cpu& operator=(const on_cpu&) = delete;

private:
  cpu_set_t before_, there_;
  bool bound_ = false;
};

}  // namespace cleave::machine
