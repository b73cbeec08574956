// Processes that a study starts and whose output it reads.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace study {

// Called in a new process: it becomes that command, or ends with status 127.
[[noreturn]] void become(const std::vector<std::string>& command);
// Called in a new process: it gets that signal when its parent ends.
void end_with_parent(pid_t parent, int signal);

// A process of its own session, as one that was started from another terminal. What is left of it
// ends with this object.
class process {
public:
  // Its errors go into that file. Throws std::runtime_error.
  process(const std::vector<std::string>& command, const std::filesystem::path& errors);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  pid_t pid() const { return pid_; }
  int output() const { return output_; }
  bool is_open() const { return open_; }
  const std::string& said() const { return said_; }

  // Reads what is there; blocks until there is something.
  void read_some();
  // Waits for its end; returns its status, and what it and its descendants used.
  std::pair<int, rusage> wait();

private:
  void end();

  pid_t pid_ = 0;
  int output_ = -1;
  bool open_ = true, waited_ = false;
  std::string said_;
};

// A folder that is gone at the end.
class scratch {
public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

// The whole text of a file; nothing if it cannot be read.
std::string text_of(const std::filesystem::path& file);

}  // namespace study
