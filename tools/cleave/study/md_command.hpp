// `cleave study md`: its command line, and what it prints.
#pragma once

#include <filesystem>
#include <string>

#include "md_run.hpp"
#include "passes_command.hpp"

namespace study::dynamics {

class command : public passes_command<command, settings> {
public:
  explicit command(apps::command_line& study);
  static measured read(const std::string& file) { return read_measured(file); }
  static void print(const measured& m);
  static void write(const measured& m, const std::filesystem::path& folder);
};

}  // namespace study::dynamics
