#include "process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace study {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

void become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

void end_with_parent(pid_t parent, int signal) {
  prctl(PR_SET_PDEATHSIG, signal);
  if (getppid() != parent) _exit(1);
}

process::process(const std::vector<std::string>& command, const fs::path& errors) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    end_with_parent(parent, SIGTERM);
    setsid();
    dup2(ends[1], STDOUT_FILENO);
    const int none = open("/dev/null", O_RDONLY);
    dup2(none, STDIN_FILENO);
    const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    become(command);
  }
  close(ends[1]);
  output_ = ends[0];
  if (pid_ < 0) throw std::runtime_error("no process");
}

process::~process() {
  if (!waited_) end();
  close(output_);
}

void process::read_some() {
  char buffer[65536];
  const ssize_t n = read(output_, buffer, sizeof buffer);
  if (n > 0) said_.append(buffer, static_cast<std::size_t>(n));
  else if (n == 0 || errno != EINTR) open_ = false;
}

std::pair<int, rusage> process::wait() {
  int status = 0;
  rusage used{};
  while (wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {}
  waited_ = true;
  return {status, used};
}

// Ends a job. A launcher ends its ranks if it is asked to, and has a while for that.
void process::end() {
  kill(-pid_, SIGTERM);
  const auto patience = clock::now() + std::chrono::seconds(5);
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (clock::now() > patience) kill(-pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

scratch::scratch() {
  std::string name = fs::temp_directory_path() / "cleave-study-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
  path_ = name;
}

scratch::~scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace study
