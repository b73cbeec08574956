// The study of searchers that collect tours: short runs of `tsp`, each organisation in turn, again
// and again.
#pragma once

#include <string>
#include <vector>

#include "passes.hpp"
#include "tsp_data.hpp"

namespace study::tours {

// What was asked for; empty and 0: the usual.
struct choice {
  bool quick = false, threads = false;
  std::string mpi;
  std::vector<std::string> organisations, rules;
  std::vector<int> searchers;
  int side = 0, tours = 0, changes = 0, passes = 0;
};

// Throws apps::usage_error if something that is asked for is none of the names, or not here.
// `missing` is why searchers are threads, if that was not asked for.
plan plan_of(const choice& asked, std::string& missing);

// The runs of one pass. Neighbours have as many searchers; every second pass runs backwards.
std::vector<cell> runs_of(const plan& p, int pass);

// The program with its arguments, as one run of that pass starts it.
std::vector<std::string> command_of(const cell& run, const plan& p, int pass,
                                    const std::string& program);

using settings = settings_of_passes<choice, measured>;
using listener = listener_to_passes<measured>;

// On SIGINT, SIGTERM and after the time limit it returns what the whole passes have given or, if
// there is none, what the first one has. Throws std::runtime_error if nothing was measured.
measured run_study(const settings& asked, const listener& to);

}  // namespace study::tours
