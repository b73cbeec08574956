// The study of molecular dynamics: short runs of `md`, the two ways in turn, again and again; and
// simulated runs of what one of them has recorded.
#pragma once

#include <string>
#include <vector>

#include "md_data.hpp"
#include "md_systems.hpp"
#include "passes.hpp"

namespace study::dynamics {

// What was asked for; empty and 0: the usual.
struct choice {
  bool quick = false;
  std::vector<std::string> systems, mpis;
  places where;
  std::string network, transport;  // a file of `cleave study net`, and which of its networks
  std::vector<int> ranks, nodes;
  int steps = 0, passes = 0;
};

// Throws apps::usage_error if something that is asked for is none of the names, or not here.
// `missing` tells what is not here.
plan plan_of(const choice& asked, int cpus, std::vector<std::string>& missing);

// The runs of one pass. First comes for each system the run that is recorded, whose `by` is
// "simulated". It has one worker, so the graph tells of no messages, and has the costs of a good
// network. Neighbours of the others differ in the way only; every second pass runs them backwards.
std::vector<cell> runs_of(const plan& p, int pass);

// The program with its arguments, as one run starts it. `settings_file` is the peptide's; the run
// that is recorded writes the graph to `plan_file`, and those that have a plan read it.
std::vector<std::string> command_of(const cell& run, const plan& p, const std::string& program,
                                    const std::string& settings_file, const std::string& plan_file);

// The first of these graphs, each subtask of which takes as long as it did in the median. So what
// else the machine did in one of the runs counts little. Throws std::runtime_error if they differ.
cleave::detail::recorded_graph with_median_durations(
    const std::vector<cleave::detail::recorded_graph>& all);

// The cells of what was recorded, on each number of nodes of the plan up to one for each block; and
// a stretch of it.
std::vector<cell> simulated_cells(const cleave::detail::recorded_graph& g, const plan& p,
                                  const std::string& system);
timeline simulated_timeline(const cleave::detail::recorded_graph& g, const plan& p,
                            const std::string& system);

using settings = settings_of_passes<choice, measured>;
using listener = listener_to_passes<measured>;

// On SIGINT, SIGTERM and after the time limit it returns what the whole passes have given or, if
// there is none, what the first one has. Throws std::runtime_error if nothing was measured.
measured run_study(const settings& asked, const listener& to);

}  // namespace study::dynamics
