// `cleave plan`: what a recorded graph tells, and how long it would take on other machines.
#pragma once

#include <memory>

namespace apps {
class command_line;
}

namespace plan {

class commands {
public:
  // Adds `plan` to the program's commands.
  explicit commands(apps::command_line& program);
  ~commands();

  // Called after parsing: given() tells whether it was this command; then run() returns its exit
  // status.
  bool given() const;
  int run();

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace plan
