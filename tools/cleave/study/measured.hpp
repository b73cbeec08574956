// What the study measured: one cell for each kernel, system and number of workers.
#pragma once

#include <exception>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "background.hpp"

namespace study {

struct cell {
  std::string kernel, system;
  int workers = 1;
  std::string arguments, failed;  // `failed` says why; then there are no times
  std::vector<double> seconds;    // the time of each round of each pass
  // The cycles of a task where the kernel counts tasks, else of a round.
  std::vector<double> cycles;
  double tasks = 0, work = 0, span = 0;
  std::map<std::string, std::vector<double>> series;
  // Where the time of a round went, from a run with clocks around every task: elapsed, work, api,
  // stolen, rest, in seconds of all workers together. Empty if nobody said.
  std::map<std::string, double> shares;
  // Work and span of the program in seconds, measured by Cleave (then this is its cell with one
  // worker). Else empty.
  std::map<std::string, double> profile;
};

struct system {
  std::string name, version, missing;  // `missing`: what was looked for
};

struct measured {
  // The cell with these names; null if there is none.
  const cell* find(const std::string& kernel, const std::string& system, int workers) const;

  std::string date, machine, size;
  int cpus = 1, passes = 1;
  bool interrupted = false;  // the study ended before all passes were over
  background beside;  // what else the machine did; capacity: before each pass, and after the last
  // Why the figures compare nothing; empty if the machine was quiet.
  std::string disturbance() const { return beside.disturbance(cpus); }
  std::vector<system> systems;
  std::vector<cell> cells;
};

double median(std::vector<double> values);  // 0 if there are no values
double quantile(std::vector<double> values, double part);

// The date and the time of this moment, as studies note them.
std::string today();
// Adds the background of a run on that many CPUs to a study's data.
void add_to(nlohmann::ordered_json& o, const background& b, int cpus);
// The study as JSON, indented by one blank for each level, or on one line.
std::string to_json(const measured& m, bool indented = false);
// What is wrong with a file of JSON: without the library's own name for it, and without what a
// terminal would not print.
std::string in_words(const std::exception& e);
// Reads a study. Throws apps::input_error that names the file.
measured read_json(const std::string& file);

}  // namespace study
