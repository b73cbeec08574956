#include "gang/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "gang/channel.hpp"
#include "gang/freezer.hpp"

namespace gang {
namespace {

using clock = std::chrono::steady_clock;

// How long a job has to end by itself, after SIGTERM.
constexpr std::chrono::seconds patience{3};

//   queued --- its turn ---> running <--- turns ---> stopped
//     |                         |                       |
//     +-- the daemon is gone, --+-- or it shall end ----+---> released
enum class phase { queued, running, stopped, released };

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, s);
  return set;
}

int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// What is left of a job when its first process has ended.
void end_rest(freezer& by) {
  by.go();
  signal_descendants(SIGTERM);
  const auto end = clock::now() + patience;
  while (waitpid(-1, nullptr, WNOHANG) >= 0)
    if (clock::now() < end) usleep(10'000);
    else signal_descendants(SIGKILL), usleep(10'000);
}

// Invariant: only the keeper (or its parent, when the keeper is gone) stops and continues the job,
// and the job is stopped only while the daemon lives and says so.
class keeper {
public:
  keeper(freezer& by, channel daemon, const std::vector<std::string>& command)
      : by_(by), daemon_(std::move(daemon)), command_(command) {}

  int keep(int signals) {
    for (;;) {
      pollfd polled[] = {{signals, POLLIN, 0}, {daemon_.descriptor(), POLLIN, 0}};
      const int timeout = deadline_ ? 100 : -1;
      if (poll(polled, connected_ ? 2 : 1, timeout) < 0) continue;
      if (connected_ && polled[1].revents != 0) told(daemon_.receive());
      if (polled[0].revents != 0) {
        if (const auto status = signalled(signals)) {
          end_rest(by_);
          by_.remove();
          return *status;
        }
      }
      if (deadline_ && clock::now() >= *deadline_) signal_descendants(SIGKILL);
    }
  }

private:
  void told(const std::optional<nlohmann::json>& message) {
    if (!message) {
      connected_ = false;
      if (phase_ != phase::released)
        fmt::print(stderr, "cleave: the gang's daemon is gone: the job goes on by itself\n");
      release();
    } else if (message->contains("end")) {
      end(SIGTERM);
    } else if (message->contains("turn")) {
      turn(message->value("turn", true));
    }
  }

  void turn(bool mine) {
    if (phase_ == phase::released) return;
    if (phase_ == phase::queued && mine) {
      start();
      phase_ = phase::running;
    } else if (phase_ == phase::stopped && mine) {
      by_.go();
      phase_ = phase::running;
    } else if (phase_ == phase::running && !mine) {
      by_.stop();
      phase_ = phase::stopped;
    } else {
      assert(mine == (phase_ == phase::running));
    }
  }

  void release() {
    if (phase_ == phase::queued) start();
    if (phase_ == phase::stopped) by_.go();
    phase_ = phase::released;
  }

  // It continues, so that it can end; after a while it is killed.
  void end(int signal) {
    if (phase_ == phase::queued) _exit(128 + (signal != 0 ? signal : SIGINT));
    release();
    if (signal != 0) kill(job_, signal);
    if (!deadline_ && signal != 0) deadline_ = clock::now() + patience;
  }

  void start() {
    job_ = fork();
    if (job_ < 0) {
      fmt::print(stderr, "cleave: fork: {}\n", std::strerror(errno));
      _exit(1);
    }
    if (job_ != 0) return;
    const sigset_t set = handled_signals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    std::vector<char*> arguments;
    for (const std::string& word : command_) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (!by_.enter()) fmt::print(stderr, "cleave: {}: {}\n", by_.kind(), std::strerror(errno));
    else execvp(arguments[0], arguments.data());
    fmt::print(stderr, "cleave: COMMAND: '{}': {}\n", command_[0], std::strerror(errno));
    _exit(2);
  }

  // The job's exit status, once it has ended.
  std::optional<int> signalled(int signals) {
    signalfd_siginfo of{};
    if (read(signals, &of, sizeof of) != sizeof of) return std::nullopt;
    if (of.ssi_signo == SIGINT) {  // from the terminal: the job has it too
      end(0);
    } else if (of.ssi_signo != SIGCHLD) {
      end(static_cast<int>(of.ssi_signo));
    }
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == job_) return status_of(status);
    return std::nullopt;
  }

  freezer& by_;
  channel daemon_;
  const std::vector<std::string>& command_;
  phase phase_ = phase::queued;
  pid_t job_ = 0;
  bool connected_ = true;
  std::optional<clock::time_point> deadline_;
};

// In the keeper, from then on. It ends the job if its parent dies.
[[noreturn]] void become_keeper(freezer& by, channel daemon,
                                const std::vector<std::string>& command, pid_t parent) {
  prctl(PR_SET_NAME, "gang-keeper");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t set = handled_signals();
  const channel signals(signalfd(-1, &set, SFD_CLOEXEC));
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  _exit(keeper(by, std::move(daemon), command).keep(signals.descriptor()));
}

// In the keeper's parent: passes on what asks for an end, and returns the job's status. If the
// keeper is killed, it continues and ends what the keeper may have left stopped.
int guard(pid_t keeper, int signals) {
  for (;;) {
    signalfd_siginfo of{};
    if (read(signals, &of, sizeof of) != sizeof of) continue;
    if (of.ssi_signo == SIGTERM || of.ssi_signo == SIGHUP)
      kill(keeper, static_cast<int>(of.ssi_signo));
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == keeper) return status;
  }
}

}  // namespace

int run(const std::string& socket, const std::string& stop_by,
        const std::vector<std::string>& command) {
  channel daemon = connect_to(socket);
  const auto by = freezer::make(stop_by);
  daemon.send({{"do", "run"}, {"command", fmt::format("{}", fmt::join(command, " "))}});
  const auto reply = daemon.receive();
  if (!reply || !reply->contains("job"))
    throw std::runtime_error(fmt::format("{}: the daemon refused the job", socket));
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t set = handled_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const channel signals(signalfd(-1, &set, SFD_CLOEXEC));
  const pid_t self = getpid(), child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) become_keeper(*by, std::move(daemon), command, self);
  daemon = channel();  // the keeper's alone: its end is the job's
  const int status = guard(child, signals.descriptor());
  if (WIFSIGNALED(status)) end_rest(*by);
  by->remove();
  return status_of(status);
}

}  // namespace gang
