// What `cleave study tsp` measured: how long searchers take to collect tours, by how they are
// organised and how many they are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "passes_data.hpp"

namespace study::tours {

inline const std::vector<std::string> all_organisations = {"apart", "together", "master"};
// When searchers send what they have found; those that are apart send nothing.
inline const std::vector<std::string> all_rules = {"one", "part", "halving", "doubling",
                                                   "remaining"};

// What one run tells, as in the JSON of `tsp`.
inline const std::vector<std::string> all_values = {
    "seconds", "run_seconds", "cpu_seconds",   "runs",       "new",      "same",
    "failed",  "sent",        "told_messages", "told_bytes", "messages", "bytes"};

// One organisation with so many searchers. One searcher alone has neither name.
struct cell {
  std::string organisation, rule;
  int searchers = 1;
  std::map<std::string, std::vector<double>> values;  // of each pass

  bool is_same(const cell& other) const {
    return organisation == other.organisation && rule == other.rule && searchers == other.searchers;
  }
  // As in "master, one".
  std::string name() const;
};

// A run that failed. It is not tried again.
struct failure {
  cell of;
  std::string reason;
};

struct plan {
  bool quick = false;
  std::string mpi;  // joins the searchers, which are processes; empty: they are threads
  int side = 0, tours = 0, changes = 0;  // the grid; how many tours; tsp's --failures
  std::vector<int> searchers;            // 1 is one of them
  std::vector<std::string> organisations, rules;
  int passes = 0;
};

struct measured : made_in_passes {
  plan what;
  std::string missing;  // why searchers are no processes, if that was not asked for
  std::vector<cell> cells;
  std::vector<failure> failures;

  const cell* find(const std::string& organisation, const std::string& rule, int searchers) const;
  // The one searcher; null if it was not measured.
  const cell* alone() const { return find("", "", 1); }
};

// The median over the passes; 0 if there is none.
double median_of(const cell& c, const std::string& value);
// How many times as fast these searchers are as one: the median over the passes of the two times of
// a pass. 0 if one of them was not measured.
double speedup(const measured& m, const cell& c);
// The same if each had a CPU: what one takes for its runs, by what each of them takes on average.
double speedup_by_work(const measured& m, const cell& c);

std::string to_json(const measured& m, bool indented = false);
// Reads a study that is to go on. Throws apps::input_error that names the file.
measured read_measured(const std::string& file);
// The study as a page, which needs nothing else.
std::string page(const measured& m);

}  // namespace study::tours
