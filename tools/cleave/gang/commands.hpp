// `cleave gang serve`, `run`, `ps`, `pause`, `resume` and `kill`: their command lines.
#pragma once

#include <memory>

namespace apps {
class command_line;
}

namespace gang {

class commands {
public:
  // Adds `gang` to the program's commands.
  explicit commands(apps::command_line& program);
  ~commands();

  // Called after parsing: given() tells whether it was one of these commands; then run() returns
  // its exit status.
  bool given() const;
  int run();

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace gang
