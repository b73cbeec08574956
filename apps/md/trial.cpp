#include "trial.hpp"

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <tuple>

#include "../common/measure.hpp"
#include "md.hpp"
#include "sequential.hpp"

namespace apps::md {
namespace {

struct run_on_nodes {
  melt atoms;
  run_options how;
  auto input() { return std::tie(atoms, how); }
  team_result<std::vector<state>> run(cleave::team& all) const {
    cleave::team_graph g(all, how.plan);
    parallel::simulation s(atoms, grid(atoms, how.blocks), g, all.size());
    g.wait();  // waits until all nodes are here
    auto [cost, found] = timed([&] { return s.run(how.steps, how.every, how.told); });
    return {cost, std::move(found)};
  }
};

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
  auto atoms = std::make_shared<const melt>(std::move(m));
  return make_team_trial(
      [=](stopwatch& time) {
        sequential::simulation s(*atoms, grid(*atoms, how.blocks));
        time.restart();
        return s.run(how.steps, how.every, how.told);
      },
      run_on_nodes{*atoms, how}, report);
}

}  // namespace apps::md
