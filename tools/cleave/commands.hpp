// The groups of commands that `cleave` has besides `study` and `cosched`.
#pragma once

#include <memory>

namespace apps {

class command_line;

// A group of commands, each with a command line of its own.
class command_group {
public:
  virtual ~command_group() = default;

  // Called after parsing: given() tells whether it was one of these commands; then run() returns
  // its exit status.
  virtual bool given() const = 0;
  virtual int run() = 0;
};

}  // namespace apps

// Each function adds a group to the program's commands.
namespace gang {
// `cleave gang serve`, `run`, `ps`, `pause`, `resume` and `kill`
std::unique_ptr<apps::command_group> commands(apps::command_line& program);
}  // namespace gang
namespace plan {
// `cleave plan`: what a recorded graph tells, and how long it would take on other machines
std::unique_ptr<apps::command_group> commands(apps::command_line& program);
}  // namespace plan
namespace record {
// `cleave record`: runs an MPI program and tells who has waited for whom
std::unique_ptr<apps::command_group> commands(apps::command_line& program);
}  // namespace record
namespace relay {
// `cleave relay`, `invite` and `revoke`
std::unique_ptr<apps::command_group> commands(apps::command_line& program);
}  // namespace relay
namespace sites {
// `cleave submit` and `cleave nodes`
std::unique_ptr<apps::command_group> commands(apps::command_line& program);
}  // namespace sites
namespace tascell {
// `cleave tascell`: makes C++ of a Tascell program
std::unique_ptr<apps::command_group> commands(apps::command_line& program);
}  // namespace tascell
