// A simulation in its two forms, with what the ranks did.
#pragma once

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "../common/measure.hpp"
#include "md.hpp"
#include "run_options.hpp"
#include "sequential.hpp"

namespace apps::md {

template <class System>
struct run_on_nodes {
  using result = run_result<typename System::found>;

  System atoms;
  run_options how;
  auto input() { return std::tie(atoms, how); }
  team_result<result> run(cleave::team& all) const {
    cleave::team_graph g =
        how.dynamic ? cleave::team_graph(all, cleave::dynamic) : cleave::team_graph(all, how.plan);
    if (how.replan != 0) g.replan_every(static_cast<unsigned>(how.replan));
    const bool planned = !how.plan.empty() || how.replan != 0;
    parallel::simulation s(atoms, grid(atoms, how.blocks), g, all.size(), planned);
    g.wait();  // waits until all nodes are here
    if (how.synchronous) s.make_synchronous();
    else if (all.size() == 1 && how.workers == 1 && !planned) s.make_lone();
    auto [cost, found] = timed([&] { return s.run(how.steps, how.every, how.told); });
    return {cost, {std::move(found), s.times(all.size(), how.workers)}};
  }
};

// report(states) makes an answer, to which the times of the ranks are added.
template <class System, class Report>
trial simulation_trial(System s, const run_options& how, Report report) {
  using result = typename run_on_nodes<System>::result;
  auto atoms = std::make_shared<const System>(std::move(s));
  return [=](cleave::runtime* workers) {
    run_on_nodes<System> on_nodes{*atoms, how};
    if (workers != nullptr) on_nodes.how.workers = workers->workers();
    const auto sequential = [=](stopwatch& time) {
      sequential::simulation all(*atoms, grid(*atoms, how.blocks));
      time.restart();
      return result{all.run(how.steps, how.every, how.told), {}};
    };
    const auto with_times = [=](const result& found) {
      answer a = report(found.states);
      std::vector<double> computing, communicating, waiting;
      for (const rank_times& t : found.times) {
        computing.push_back(t.computing);
        communicating.push_back(t.communicating);
        waiting.push_back(t.waiting);
      }
      if (!found.times.empty()) {
        a.more.emplace_back("computing", computing);
        a.more.emplace_back("communicating", communicating);
        a.more.emplace_back("waiting", waiting);
      }
      return a;
    };
    return make_team_trial(sequential, on_nodes, with_times)(workers);
  };
}

}  // namespace apps::md
