#include "trial.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "nodes_run.hpp"

namespace apps::md {
namespace {

answer report(const std::vector<state>& found) {
  answer a;
  a.text = " step  temperature  potential energy  total energy      pressure";
  std::vector<double> temperature, potential, total, pressure;
  std::vector<int> steps;
  for (const state& s : found) {
    char line[120];
    std::snprintf(line, sizeof line, "\n%18d %12.8f %17.8f %13.8f %13.8f", s.step, s.temperature,
                  s.potential, s.total, s.pressure);
    a.text += line;
    steps.push_back(s.step), temperature.push_back(s.temperature);
    potential.push_back(s.potential), total.push_back(s.total), pressure.push_back(s.pressure);
  }
  a.main = total.back();
  a.more = {{"steps", steps},
            {"temperature", temperature},
            {"potential", potential},
            {"total", total},
            {"pressure", pressure}};
  // The potential is cut off without a shift, so a little of the energy goes astray.
  if (!std::isfinite(total.front()))
    a.wrong = "energies that are finite: two atoms are at one place, or a velocity is too large";
  else if (!(std::abs(total.back() - total.front()) < 0.05))
    a.wrong = "the total energy of the beginning, within 0.05";
  return a;
}

}  // namespace

trial trial_of(melt m, const run_options& how) {
  return simulation_trial(std::move(m), how, report);
}

}  // namespace apps::md
