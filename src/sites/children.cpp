#include "sites/children.hpp"

#include "machine/random.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace cleave::net::nats {
namespace {

constexpr std::size_t most_at_once = 64 << 10;  // the most bytes of one part

void close_pipe(int& descriptor) noexcept {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

std::string name_of(std::string_view variable) {
  return std::string(variable.substr(0, variable.find('=') + 1));
}

/// The environment of this process, except for what is set here.
words environment_with(const words& set) {
  words all = set;
  for (char** v = environ; *v != nullptr; ++v) {
    const bool replaced = std::any_of(set.begin(), set.end(), [&](const std::string& s) {
      return std::string_view(*v).starts_with(name_of(s));
    });
    if (!replaced) all.emplace_back(*v);
  }
  return all;
}

std::vector<char*> pointers_to(words& all) {
  std::vector<char*> to;
  for (std::string& one : all) to.push_back(one.data());
  to.push_back(nullptr);
  return to;
}

/// An address that no other node of the job has, and not the root; below 2^62 (transport.cpp).
std::string new_address() {
  return cleave::machine::in_hexadecimal(cleave::machine::random_bits() >> 2 | 1);
}

/// Runs between fork and exec, in a process that may have had other threads: it makes system calls
/// only.
[[noreturn]] void become(bool is_root, int output, int errors, pid_t parent, char** arguments,
                         char** environment) {
  setpgid(0, 0);  // a terminal's Ctrl-C is for the server
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(is_root ? output : nothing, STDOUT_FILENO);
  if (is_root) dup2(errors, STDERR_FILENO);
  syscall(SYS_close_range, 3u, ~0u, 0u);  // the relay's connection is closed too
  for (const int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(s, SIG_DFL);
  sigset_t blocked;
  sigemptyset(&blocked);
  if (!is_root) {  // a member asks for these itself, and leaves its job (driver.hpp)
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
  }
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  execve("/proc/self/exe", arguments, environment);
  _exit(127);
}

}  // namespace

children::~children() {
  for (auto& [job, c] : running_) {
    ::kill(-c.pid, SIGKILL);
    waitpid(c.pid, nullptr, 0);
    close_pipe(c.output), close_pipe(c.errors);
  }
}

bool children::start(const settings& s) {
  words set = every_;
  set.push_back("CLEAVE_TRANSPORT=nats");
  set.push_back("CLEAVE_JOB=" + s.job);
  set.push_back("CLEAVE_NODE=" + (s.is_root ? "0" : new_address()));
  set.push_back("CLEAVE_ROOT=" + s.root);
  if (!s.ask.empty()) set.push_back("CLEAVE_ASK=" + s.ask);
  words environment = environment_with(set);
  words arguments = {program_invocation_name};
  arguments.insert(arguments.end(), s.arguments.begin(), s.arguments.end());
  const auto to_arguments = pointers_to(arguments), to_environment = pointers_to(environment);

  std::array<int, 2> output = {-1, -1}, errors = {-1, -1};
  if (s.is_root) {
    if (pipe2(output.data(), O_CLOEXEC) != 0) return false;
    if (pipe2(errors.data(), O_CLOEXEC) != 0) {
      close_pipe(output[0]), close_pipe(output[1]);
      return false;
    }
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become(s.is_root, output[1], errors[1], parent, const_cast<char**>(to_arguments.data()),
           const_cast<char**>(to_environment.data()));
  }
  close_pipe(output[1]), close_pipe(errors[1]);
  if (pid < 0) {
    close_pipe(output[0]), close_pipe(errors[0]);
    return false;
  }
  setpgid(pid, pid);  // done here too: the child may be signalled before it has done so
  for (const int pipe : {output[0], errors[0]})
    if (pipe >= 0) fcntl(pipe, F_SETFL, O_NONBLOCK);
  running_[s.job] = {pid, output[0], errors[0]};
  return true;
}

void children::signal(const std::string& job, int signal) {
  const auto at = running_.find(job);
  if (at != running_.end()) ::kill(-at->second.pid, signal);
}

void children::poll_for(std::vector<pollfd>& all,
                        const std::function<bool(const std::string& job)>& wants_output) const {
  for (const auto& [job, c] : running_) {
    if (!wants_output(job)) continue;
    for (const int pipe : {c.output, c.errors})
      if (pipe >= 0) all.push_back({pipe, POLLIN, 0});
  }
}

/// Reads one piece of what a job has written, or all that is there.
void children::read(const std::string& job, int& from, part::of what, bool all,
                    const events& tell) {
  while (from >= 0) {
    std::string text(most_at_once, '\0');
    const ssize_t got = ::read(from, text.data(), text.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return close_pipe(from);
    text.resize(static_cast<std::size_t>(got));
    tell.wrote(job, what, std::move(text));
    if (!all) return;
  }
}

void children::look(const std::vector<pollfd>& polled, const events& tell) {
  const auto is_ready = [&](int pipe) {
    return pipe >= 0 && std::any_of(polled.begin(), polled.end(), [&](const pollfd& p) {
             return p.fd == pipe && p.revents != 0;
           });
  };
  for (auto& [job, c] : running_) {
    if (is_ready(c.output)) read(job, c.output, part::of::output, false, tell);
    if (is_ready(c.errors)) read(job, c.errors, part::of::errors, false, tell);
  }
  std::vector<std::pair<std::string, child_end>> gone;
  for (auto at = running_.begin(); at != running_.end();) {
    auto& [job, c] = *at;
    int status = W_EXITCODE(1, 0);  // if nobody knows how it has ended
    const pid_t found = waitpid(c.pid, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno != ECHILD)) {
      ++at;
      continue;
    }
    ::kill(-c.pid, SIGKILL);  // kills what the child has started, too
    read(job, c.output, part::of::output, true, tell);
    read(job, c.errors, part::of::errors, true, tell);
    close_pipe(c.output), close_pipe(c.errors);
    const bool killed = WIFSIGNALED(status);
    gone.push_back({job, {killed, killed ? WTERMSIG(status) : WEXITSTATUS(status)}});
    at = running_.erase(at);
  }
  for (const auto& [job, how] : gone) tell.ended(job, how);
}

}  // namespace cleave::net::nats
