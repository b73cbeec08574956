// `cleave study md`: its command line, and what it prints.
#pragma once

#include <string>

#include "md_run.hpp"
#include "support/command_line.hpp"

namespace study::dynamics {

class command {
public:
  explicit command(apps::command_line& study);
  command(const command&) = delete;
  bool given() const { return line_.parsed(); }
  // Returns the exit status.
  int run();

private:
  settings settings_;
  std::string folder_ = ".";
  bool json_ = false, resume_ = false;
  apps::command_line line_;
};

}  // namespace study::dynamics
