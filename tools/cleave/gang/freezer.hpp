// How all processes of a job are stopped and continued together.
#pragma once

#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gang {

// A job is everything that descends from the process that calls these functions, its keeper. The
// keeper itself is never stopped. The keeper's parent makes a freezer, so that both of them can
// continue the job; each calls from one thread.
class freezer {
public:
  // Makes the freezer "cgroup2", "cgroup1" or "signals"; "": the first of them that this user may
  // use. Throws apps::usage_error if it is not there.
  static std::unique_ptr<freezer> make(const std::string& kind);
  virtual ~freezer() = default;

  virtual std::string kind() const = 0;
  // Called in the job's first process, before that becomes the program. False if it cannot enter.
  virtual bool enter() = 0;
  // Stops the job. May return before the last process has stopped, a moment later.
  virtual void stop() = 0;
  virtual void go() = 0;
  // Called after each stop() and go(): reaches processes that they may have missed. May be called
  // again: a process that was about to have a child when it was stopped may have it a moment later.
  virtual void finish() {}
  // Called when the job has ended.
  virtual void remove() {}
};

// The parent of a process; 0 if the process is gone.
pid_t parent_of(pid_t process);
// The calling process's children, their children and so on; those that are gone are left out.
std::vector<pid_t> descendants();
// Sends a signal to all descendants except `sent`, also to those that are born meanwhile; but it
// gives up after a while if the signal is not SIGSTOP.
void signal_descendants(int signal, std::set<pid_t> sent = {});

}  // namespace gang
