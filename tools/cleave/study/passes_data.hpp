// What the data of studies that are made in passes (passes.hpp) have in common, and as JSON.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "background.hpp"

namespace study {

struct made_in_passes {
  std::string date, machine;
  int cpus = 1;
  int whole = 0;  // passes of which every run is there
  bool interrupted = false, out_of_time = false;
  background beside;
  // Why the figures compare nothing; empty if the machine was quiet.
  std::string disturbance() const { return beside.disturbance(cpus); }
};

// The cell that is the same as `like`; null if there is none.
template <class Cell>
const Cell* find_same(const std::vector<Cell>& cells, const Cell& like) {
  const auto at =
      std::find_if(cells.begin(), cells.end(), [&like](const Cell& c) { return c.is_same(like); });
  return at == cells.end() ? nullptr : &*at;
}

// The beginning of a study's data. `name` is that of its command.
nlohmann::ordered_json head_of(const char* name, const made_in_passes& m,
                               nlohmann::ordered_json plan);
// Data as text, indented by one blank for each level, or on one line.
std::string in_text(const nlohmann::ordered_json& o, bool indented);
// Reads the head of that study's file, and has `take` read the rest. Throws apps::input_error that
// names the file.
void read_study(const std::string& file, const std::string& name, made_in_passes& head,
                const std::function<void(const nlohmann::ordered_json&)>& take);

}  // namespace study
