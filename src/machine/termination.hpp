#pragma once

#include <functional>
#include <thread>

namespace cleave::machine {

/// While it lives the first SIGTERM calls `what`, in a thread of its own; the second one ends the
/// process, as it would without this. One at a time in a process. Where the signal is blocked, as a
/// parent may have left it, it is let in by the calling thread, and nothing that came before is
/// lost. Changes nothing if the program handles the signal itself.
class on_termination {
public:
  explicit on_termination(std::function<void()> what);
  ~on_termination();
  on_termination(const on_termination&) = delete;
  on_termination& operator=(const on_termination&) = delete;

private:
  std::thread thread_;
};

}  // namespace cleave::machine
