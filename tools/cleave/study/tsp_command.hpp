// `cleave study tsp`: its command line, and what it prints.
#pragma once

#include <filesystem>
#include <string>

#include "passes_command.hpp"
#include "tsp_run.hpp"

namespace study::tours {

class command : public passes_command<command, settings> {
public:
  explicit command(apps::command_line& study);
  // Throws apps::usage_error, and returns the exit status.
  int run();
  static measured read(const std::string& file) { return read_measured(file); }
  static void print(const measured& m);
  static void write(const measured& m, const std::filesystem::path& folder);
};

}  // namespace study::tours
