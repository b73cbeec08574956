// How all processes of a job are stopped and continued together.
#pragma once

#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gang {

// A job is everything that descends from the process that calls these functions, its keeper. The
// keeper itself is never stopped. Made by the keeper's parent, so that both of them can continue
// the job; each calls from one thread.
class freezer {
public:
  // "cgroup2", "cgroup1" or "signals"; "": the first of them that this user may use. Throws
  // apps::usage_error if it is not there.
  static std::unique_ptr<freezer> make(const std::string& kind);
  virtual ~freezer() = default;

  virtual std::string kind() const = 0;
  // In the job's first process, before it becomes the program. False if it cannot be.
  virtual bool enter() = 0;
  // May return before the last process has stopped, a moment later.
  virtual void stop() = 0;
  virtual void go() = 0;
  // After each of them: reaches what they may have missed. May be called again: a process that was
  // about to have a child when it was stopped may have it a moment later.
  virtual void finish() {}
  // When the job has ended.
  virtual void remove() {}
};

// 0 if the process is gone.
pid_t parent_of(pid_t process);
// The calling process's children, their children and so on; those that are gone are left out.
std::vector<pid_t> descendants();
// Sends a signal to all of them, also to those that are born meanwhile; if it is not SIGSTOP, not
// for ever. `sent`: not to these.
void signal_descendants(int signal, std::set<pid_t> sent = {});

}  // namespace gang
