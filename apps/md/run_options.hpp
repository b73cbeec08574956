#pragma once

#include <array>
#include <string>
#include <tuple>

namespace apps::md {

// What is to be told besides the answer.
struct wishes {
  std::string trajectory = {};  // a file; empty: none
  bool progress = false;        // a line on standard error for each step that is told
  auto fields() { return std::tie(trajectory, progress); }
};

// How a simulation is run, whatever its atoms are.
struct run_options {
  int steps = 0, every = 1;  // what is known is told after each `every` steps, and at the end
  std::array<int, 3> blocks = {1, 1, 1};  // in each direction, at most
  std::string plan = {};                  // a file for team_graph, or nothing
  int replan = 0;        // blocks get other nodes after so many steps, or more; 0: never
  bool dynamic = false;  // idle nodes are lent subtasks
  wishes told = {};
  bool synchronous = false;  // all blocks do one thing after the other at once
  int workers = 1;           // of each node; decides nothing, but what waiting is
  auto fields() {
    return std::tie(steps, every, blocks, plan, replan, dynamic, told, synchronous, workers);
  }
};

}  // namespace apps::md
