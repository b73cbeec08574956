// `cleave submit` and `cleave nodes`: their command lines.
#pragma once

#include <memory>

namespace apps {
class command_line;
}

namespace sites {

class commands {
public:
  // Adds them to the program's commands.
  explicit commands(apps::command_line& program);
  ~commands();

  // After parsing: whether it was one of them, and then its exit status.
  bool given() const;
  int run();

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace sites
