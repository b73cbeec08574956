// Who is told what a simulation finds, while it runs. Only node 0 tells.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "../lammps/trajectory.hpp"
#include "run_options.hpp"

namespace apps::md {

class observer {
public:
  template <class System>
  observer(const wishes& w, const System& s, int steps)
      : wishes_(w), low_(s.low), size_(s.size), time_step_(s.drift()), steps_(steps) {
    if constexpr (requires { s.type; }) types_ = s.type;
  }

  bool tells() const { return wishes_.progress; }
  bool shows() const { return !wishes_.trajectory.empty(); }

  // These are called in the order of steps.
  template <class State>
  void told(const State& s) const {
    if (tells())
      fmt::print(stderr, "step {} of {}: temperature {:.6g}, energy {:.10g}, pressure {:.6g}\n",
                 s.step, steps_, s.temperature, s.total, s.pressure);
  }
  // `parts` have all atoms. The file begins with the first call.
  void show(int step, std::span<const lammps::frame* const> parts) const {
    if (!file_)
      file_ =
          std::make_unique<lammps::trajectory>(wishes_.trajectory, low_, size_, types_, time_step_);
    file_->write(step, parts);
  }

private:
  const wishes wishes_;
  vec3 low_, size_;
  std::vector<int> types_;
  double time_step_;
  int steps_;
  mutable std::unique_ptr<lammps::trajectory> file_;
};

}  // namespace apps::md
