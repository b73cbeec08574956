#pragma once

#include "sites/control.hpp"
#include "sites/supervisor.hpp"

#include <poll.h>
#include <sys/types.h>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cleave::net::nats {

/// The processes of jobs on this machine, each a program like this one. They die with the thread
/// that has started them.
class children {
public:
  /// `every`: environment that all children have besides this process's own.
  explicit children(words every) : every_(std::move(every)) {}
  /// Kills the children that are left.
  ~children();
  children(const children&) = delete;
  children& operator=(const children&) = delete;

  struct settings {
    std::string job, root;  // the root's machine
    words arguments;
    std::string ask;  // CLEAVE_ASK of the child; empty: this process's own
    bool is_root = false;
  };
  /// Starts a child. False, with errno, if it cannot be started.
  bool start(const settings& s);
  void signal(const std::string& job, int signal);

  /// Appends the pipes that are to be read, for poll().
  void poll_for(std::vector<pollfd>& all,
                const std::function<bool(const std::string& job)>& wants_output) const;
  struct events {
    std::function<void(const std::string& job, part::of what, std::string text)> wrote;
    std::function<void(const std::string& job, child_end how)> ended;
  };
  /// Tells what is in the pipes that were polled, and who has ended. Does not block.
  void look(const std::vector<pollfd>& polled, const events& tell);

private:
  struct child {
    pid_t pid;
    int output = -1, errors = -1;  // the pipes of a root; -1: closed
  };
  static void read(const std::string& job, int& from, part::of what, bool all, const events& tell);

  const words every_;
  std::map<std::string, child> running_;
};

}  // namespace cleave::net::nats
