// What `cleave study cosched` measured: jobs that shared a machine, under each way to share it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "background.hpp"

namespace study::sharing {

// An MPI program, one of those that are built for each MPI.
struct job {
  std::string program;                 // cg, ft, bsp
  std::vector<std::string> arguments;  // "A" and so on
  int ranks = 2;
  double after = 0;     // seconds after the others begin
  double expected = 0;  // about the seconds that it takes alone; 0: not known

  std::string name() const;   // program and arguments
  std::string title() const;  // the name without how often it does what it does
};

// How jobs share: `plain` (MPI as it is), `yield` (Open MPI's mpi_yield_when_idle), `gang`, or a
// policy of cosched.
struct way {
  std::string mode;
  int spin = -1;  // microseconds, for two-phase; -1: its own choice. If given, no spin is longer.

  std::string name() const;
};

struct cell {
  std::string part;  // alone, copies, spin, mixed, staggered, outsider, bsp, idle
  std::vector<job> jobs;
  way by;
  bool outsider = false;  // one process that computes all the time, beside them

  std::string failed;       // why a run failed; what others gave stays
  std::vector<int> passes;  // in which pass each of these runs was: some are run twice in a pass
  // When each job began, and what it took, in each run.
  std::vector<std::vector<double>> begins, seconds;
  // The mean over the jobs, for each run, of the time that a job took, in times of its fair share:
  // what it would take if the machine were divided evenly, for nothing, among the jobs that run.
  std::vector<double> fair;
  std::vector<double> cpu_seconds;  // the sum over all jobs of each run; not a number: not known
  // What was counted in the last run: switches; cosched's report, added up.
  std::map<std::string, double> counts;
  // How many runs were ended at their limit. Their seconds are those until then: they would take
  // longer.
  int stopped = 0;

  std::string title() const;  // what its jobs are
};

// Which ranks ran when.
struct timeline {
  way by;
  std::vector<std::string> jobs;
  double step = 0.001;  // seconds
  struct rank {
    int job = 0;
    std::vector<double> ran;    // in which part of each step it had a CPU
    std::vector<double> marks;  // when it began to communicate, in seconds from the first step
  };
  std::vector<rank> ranks;
};

struct measured {
  std::string date, machine, mpi, size;
  double seconds = 0;  // about the seconds that a job takes alone
  int cpus = 1, passes = 1;
  int whole = 0;  // passes of which every run is there
  bool interrupted = false, out_of_time = false;
  background beside;  // what else the machine did; capacity: at the beginning and the end
  // Why the figures compare nothing; empty if the machine was quiet.
  std::string disturbance() const { return beside.disturbance(cpus); }
  std::vector<cell> cells;
  std::vector<timeline> timelines;
};

// The CPU seconds of the cell's runs that were not ended at their limit.
std::vector<double> known_cpu_seconds(const cell& c);

// The least that these jobs need, in seconds of CPU time: what each takes alone under `block`,
// asleep wherever it waits. 0 if that was not measured.
double useful_cpu_seconds(const measured& m, const std::vector<job>& jobs);

std::string to_json(const measured& m, bool indented = false);
// The study as a page, which needs nothing else.
std::string page(const measured& m);

// What each job takes if the machine is divided evenly, at each time, among the jobs that have
// begun and not ended. Job i begins at begins[i] and takes lengths[i] if it is alone.
std::vector<double> fair_seconds(const std::vector<double>& begins,
                                 const std::vector<double>& lengths);

}  // namespace study::sharing
