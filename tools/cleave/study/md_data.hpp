// What `cleave study md` measured: how long molecular dynamics takes by dependences and in
// bulk-synchronous steps, and what each rank did meanwhile.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "md_simulated.hpp"
#include "passes_data.hpp"

namespace study::dynamics {

// What one run tells; of the last three the mean of its nodes, in seconds of their workers.
inline const std::vector<std::string> all_values = {"seconds", "cpu_seconds", "computing",
                                                    "communicating", "waiting"};
// The values that are known of each rank.
inline const std::vector<std::string> rank_values = {"computing", "communicating", "waiting"};

std::string name_of(way by);

// One system on so many ranks or workers, in one way.
struct cell {
  std::string system, by;  // by: workers, openmpi, mpich; simulated
  int nodes = 1;           // ranks, or workers of one process
  way how = way::dependences;
  std::map<std::string, std::vector<double>> values;  // of each pass
  // Of each pass, of each rank; not of simulated ones.
  std::map<std::string, std::vector<std::vector<double>>> ranks;

  bool is_same(const cell& other) const {
    return system == other.system && by == other.by && nodes == other.nodes && how == other.how;
  }
  // As in "peptide, 2 ranks by mpich, synchronous".
  std::string name() const;
};

// A run that failed. It is not tried again.
struct failure {
  cell of;
  std::string reason;
};

// A stretch of a simulated run on many nodes, in both ways.
struct timeline {
  std::string system;
  int nodes = 0;
  std::vector<std::string> subtasks;  // their names
  struct part {
    way how = way::dependences;
    double seconds = 0;                // how long it is
    std::vector<span_of_node> spans;   // microseconds from its beginning
    std::vector<node_times> of_nodes;  // microseconds, of the whole run
  };
  std::vector<part> parts;
};

// The atoms that `md` is started with.
struct system {
  std::string name, about;
  std::string like;  // the paper's system that has about as many atoms; empty: none
  int atoms = 0, blocks = 0;
  std::vector<std::string> arguments;  // for md; SETTINGS stands for a file that the study writes
};

struct plan {
  bool quick = false;
  std::vector<system> systems;
  std::vector<std::string> mpis;  // that join ranks
  std::vector<int> ranks;         // 1 is one of them
  std::vector<int> nodes;         // those that are simulated
  int steps = 0, passes = 0;
  int recordings = 1;  // runs of a pass that are recorded, before one is simulated
  // What a message costs in a simulation; of a good network, or of this one.
  cleave::detail::message_costs messages;
  std::string network;
};

struct measured : made_in_passes {
  plan what;
  std::vector<std::string> missing;
  std::vector<cell> cells;
  std::vector<timeline> timelines;
  std::vector<failure> failures;

  const cell* find(const std::string& system, const std::string& by, int nodes, way how) const;
};

// The median over the passes; 0 if there is none.
double median_of(const cell& c, const std::string& value);
// How many times as long the other way takes as this cell: the median over the passes of the two
// times of a pass. 0 if it was not measured.
double gain(const measured& m, const cell& c, way other = way::synchronous);

std::string to_json(const measured& m, bool indented = false);
// Reads a study that is to go on. Throws apps::input_error that names the file.
measured read_measured(const std::string& file);
// The study as a page, which needs nothing else.
std::string page(const measured& m);

}  // namespace study::dynamics
