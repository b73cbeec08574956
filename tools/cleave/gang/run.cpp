#include "gang/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "gang/channel.hpp"
#include "gang/freezer.hpp"
#include "gang/link.hpp"
#include "gang/messages.hpp"
#include "gang/prompt.hpp"
#include "gang/remote.hpp"
#include "machine/ignored.hpp"
#include "support/command_line.hpp"

namespace gang {
namespace {

using cleave::machine::is_ignored;

// How long a job has to end by itself, after SIGTERM.
constexpr std::chrono::seconds patience{3};
// When the keeper looks again whether a process of a stopped job has had a child nevertheless: a
// moment later, and then now and then. It looks once whether a process was missed that is to go on
// for good, because others ended meanwhile.
constexpr std::chrono::milliseconds first_look_again{20}, look_again_each{1000};
// How often a job alone looks whether a daemon is there again.
constexpr std::chrono::milliseconds between_looks{200};
// A daemon says something each second. One that says nothing for this long does not run.
constexpr std::chrono::seconds longest_silence{5};

// queued --- its turn ---> running <--- turns ---> stopped
//   queued, running, stopped --- the daemon is gone ---> alone --- another is there ---> running
//   each --- it shall end ---> ending
enum class phase { queued, running, stopped, alone, ending };

// Adds signals, except those that the user ignores (nohup): they are no sign.
void add_handled(sigset_t& set, std::initializer_list<int> signals) {
  for (const int s : signals)
    if (!is_ignored(s)) sigaddset(&set, s);
}

// All signals that the terminal or a batch system may send to the whole process group: a keeper
// that dies of one while the job is frozen leaves it frozen.
sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  add_handled(set, {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,
                    SIGPIPE});
  return set;
}

// The keeper is not stopped by its terminal, either; and SIGTERM tells that its parent is gone.
sigset_t keepers_signals() {
  sigset_t set = handled_signals();
  add_handled(set, {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT});
  sigaddset(&set, SIGTERM);
  return set;
}

// Whether there is a shell that stops and continues this process group. Where there is none, as
// under ssh with a command, the kernel stops nobody for Ctrl-Z. Scripts are in the group, too.
bool has_job_control() {
  pid_t above = getppid();
  while (above > 0 && getpgid(above) == getpgrp()) above = parent_of(above);
  return above > 0 && getsid(above) == getsid(0);
}

bool was_interrupted(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT; }

int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The request to the daemon. `name`: "" for a new job, which the daemon names.
nlohmann::json request_for(const job_settings& job, const std::string& name) {
  nlohmann::json request{{"do", "run"},
                         {"command", shortened(fmt::format("{}", fmt::join(job.command, " ")))}};
  if (!name.empty()) request["job"] = name;
  return request;
}

// Ends what is left of a job when its first process has ended.
void end_rest(freezer& by) {
  by.go();
  by.finish();
  signal_descendants(SIGTERM);
  const moment end = now() + patience;
  while (waitpid(-1, nullptr, WNOHANG) >= 0)
    if (now() < end) usleep(10'000);
    else signal_descendants(SIGKILL), usleep(10'000);
}

// Says a line; throws nothing, as nobody may be there to read it.
void say(const std::string& line) { std::fprintf(stderr, "cleave: %s\n", line.c_str()); }

// Dies of Ctrl-C, as its job has: a shell ends a script only if what it waited for has died of
// Ctrl-C.
void die_interrupted() {
  signal(SIGINT, SIG_DFL);
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGINT);
  raise(SIGINT);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

// What the daemon has made of a job.
struct accepted {
  std::string name;
  bool joined = false;       // the daemon is joined to other nodes
  bool job_control = false;  // whether a shell stops and continues its process group
};

// Invariants: only the keeper (or its parent, when the keeper is gone) stops and continues the job.
// The job is stopped only while the daemon lives and says so. Whether it runs follows from the
// timetable and the time alone, so it does not matter how long before its moment a change was told.
class keeper {
public:
  keeper(freezer& by, channel daemon, const job_settings& job, accepted as)
      : by_(by), job_(job), as_(std::move(as)) {
    to_.daemon = std::move(daemon);
    be_prompt(true);
  }

  int keep(int signals) {
    for (;;) {
      if (phase_ == phase::alone && !to_.connected && now() >= to_.next_try) look_for_daemon();
      follow_timetable();
      look_again();
      pollfd polled[] = {{signals, POLLIN, 0}, {to_.daemon.descriptor(), POLLIN, 0}};
      const auto timeout = time_to_wait();
      if (ppoll(polled, to_.connected ? 2 : 1, timeout ? &*timeout : nullptr, nullptr) < 0)
        continue;
      if (to_.connected && polled[1].revents != 0) to_.heard = now(), told(to_.daemon.receive());
      else if (expects_word() && now() >= to_.heard + longest_silence) be_alone("does not answer");
      if (polled[0].revents != 0) {
        if (const auto status = signalled(signals)) {
          end_rest(by_);
          by_.remove();
          if (was_interrupted(*status)) die_interrupted();
          return status_of(*status);
        }
      }
      if (deadline_ && now() >= *deadline_) signal_descendants(SIGKILL);
    }
  }

private:
  void told(const std::optional<nlohmann::json>& message) {
    if (!message) {
      be_alone("is gone");
    } else if (phase_ == phase::alone) {  // this is the answer of another daemon
      if (!message->contains("job")) return not_taken_in(*message);
      timetable_.clear();
      phase_ = phase::running;
      say("a daemon is there again: the job has turns");
      if (held_.is) held_.asked_again = true, ask("pause");
    } else if (message->contains("end")) {
      end(SIGTERM, true);
    } else if (message->contains("error")) {
      held_.is = held_.is && held_.asked_again;  // a job that was paused already is to stay so
    } else if (message->contains("plan")) {
      timetable_.clear();
      for (const auto& c : message->at("plan"))
        timetable_.push_back({moment(c.at(0).get<std::int64_t>()), c.at(1), c.at(2)});
    }
  }

  void not_taken_in(const nlohmann::json& answer) {
    to_.connected = false;
    if (!answer.contains("error") || !answer["error"].is_string()) return;
    const auto why = answer["error"].get<std::string>();
    if (why != to_.refused) say("the daemon does not take the job in: " + (to_.refused = why));
  }

  bool expects_word() const {
    return to_.connected && phase_ != phase::ending && phase_ != phase::alone;
  }

  void be_alone(const char* why) {
    const bool was_kept = expects_word();
    to_.connected = false;
    to_.daemon = channel();
    if (!was_kept) return;
    if (!held_.is || phase_ == phase::queued) let_run();
    phase_ = phase::alone;
    say(fmt::format("the gang's daemon {}: the job goes on by itself", why));
  }

  // Asks a daemon to take the job in, under the name that it has on other nodes, too.
  void look_for_daemon() {
    to_.next_try = now() + between_looks;
    try {
      to_.daemon = connect_to(job_.socket);
      auto request = request_for(job_, as_.name);
      request["joined"] = as_.joined;
      to_.connected = to_.daemon.send(request);
    } catch (const apps::usage_error&) {}  // no daemon is there yet
  }

  // Does what is due by the timetable, once.
  void follow_timetable() {
    const moment at = now();
    while (timetable_.size() > 1 && timetable_[1].at <= at) timetable_.erase(timetable_.begin());
    if (timetable_.empty() || timetable_.front().at > at) return;
    const phase before = phase_;
    turn(timetable_.front().run);
    if (phase_ == before) return;
    const moment done = now();
    by_.finish();
    look_again_at_ = phase_ == phase::stopped ? done + first_look_again : moment::max();
    if (!to_.connected) return;
    to_.daemon.send({{"did", timetable_.front().run ? "go" : "stop"},
                     {"turn", timetable_.front().number},
                     // A part that has come in the middle of its turn is not late.
                     {"due", before == phase::queued ? 0 : timetable_.front().at.count()},
                     {"at", done.count()}});
  }

  void look_again() {
    if (now() < look_again_at_) return;
    const bool stopped = phase_ == phase::stopped || held_.is;
    if (!stopped) by_.go();
    by_.finish();
    look_again_at_ = stopped ? now() + look_again_each : moment::max();
  }

  // The time until the next change, or until processes that shall end are looked at again.
  std::optional<timespec> time_to_wait() const {
    moment until = moment::max();
    const moment at = now();
    for (const change& c : timetable_)
      if (c.at > at) until = std::min(until, c.at);
    if (phase_ == phase::ending) until = moment::max();
    if (phase_ == phase::alone) until = at + between_looks;
    until = std::min(until, look_again_at_);
    if (expects_word()) until = std::min(until, to_.heard + longest_silence);
    if (deadline_) until = std::min(until, at + std::chrono::milliseconds(100));
    if (until == moment::max()) return std::nullopt;
    constexpr long second = 1'000'000'000;
    // The moment is over, if this process was stopped itself: in a job in a job.
    const long left = static_cast<long>(std::max(until - at, moment(0)).count());
    return timespec{left / second, left % second};
  }

  void turn(bool mine) {
    if (phase_ == phase::alone || phase_ == phase::ending) return;
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

  void let_run() {
    if (phase_ == phase::queued) start();
    else by_.go(), by_.finish(), look_again_at_ = now() + first_look_again;
    held_.is = false;
  }

  // Ends the job: continues it, so that it can end; if it has to, it is killed after a while.
  void end(int signal, bool has_to) {
    if (phase_ == phase::queued) {
      by_.remove();
      if (signal == 0) die_interrupted();
      _exit(128 + signal);
    }
    if (to_.connected) to_.daemon.send({{"ends", true}});
    let_run();
    phase_ = phase::ending;
    if (signal == 0) return;
    ends_ = true;
    if (status_) signal_descendants(signal);  // the first process has ended before the others
    else kill(first_, signal);
    if (has_to && !deadline_) deadline_ = now() + patience;
  }

  void start() {
    first_ = fork();
    if (first_ < 0) {
      fmt::print(stderr, "cleave: fork: {}\n", std::strerror(errno));
      _exit(1);
    }
    if (first_ != 0) return;
    be_scheduled(scheduling_);
    const sigset_t set = keepers_signals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    std::vector<char*> arguments;
    set_environment(job_, as_.name, as_.joined);
    if (by_.kind() == "signals") keep_signals_from_launchers();
    for (const std::string& word : job_.command)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (!by_.enter()) fmt::print(stderr, "cleave: {}: {}\n", by_.kind(), std::strerror(errno));
    else execvp(arguments[0], arguments.data());
    fmt::print(stderr, "cleave: COMMAND: '{}': {}\n", job_.command[0], std::strerror(errno));
    _exit(2);
  }

  // How the job has ended, once it has.
  std::optional<int> signalled(int signals) {
    signalfd_siginfo of{};
    if (read(signals, &of, sizeof of) != sizeof of) return std::nullopt;
    const auto signal = static_cast<int>(of.ssi_signo);
    switch (signal) {
      case SIGINT:
      case SIGQUIT: end(0, false); break;  // the terminal sends it to the job, too
      case SIGTERM:
      case SIGHUP:
        if (const bool has_to = getppid() != parent_; has_to || !is_ignored(signal))
          end(signal, has_to);
        break;
      case SIGTSTP:
      case SIGTTIN:
      case SIGTTOU: stopped_by_terminal(); break;
      case SIGCONT: continued_by_terminal(); break;
      default: break;  // other signals are for the job, which has them too
    }
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
      if (ended == first_) status_ = status;
    const bool rest = ended == 0;
    return job_.all && rest && !ends_ ? std::nullopt : status_;
  }

  // Stops the whole job: the terminal reaches its process group only, and launchers' ranks may have
  // groups of their own.
  void stopped_by_terminal() {
    if (!as_.job_control || !expects_word()) return;
    held_.asked_again = std::exchange(held_.is, true);
    ask("pause");
  }
  void continued_by_terminal() {
    // The job stays stopped until it has a turn.
    if (phase_ == phase::stopped) by_.stop(), by_.finish();
    if (!std::exchange(held_.is, false)) return;
    if (phase_ == phase::alone || phase_ == phase::running) by_.go(), by_.finish();
    if (expects_word()) ask("resume");
  }
  void ask(const char* what) { to_.daemon.send({{"do", what}, {"job", as_.name}}); }

  // The daemon that the job has turns from.
  struct connection {
    channel daemon;
    bool connected = true;
    moment heard = now();
    moment next_try{};    // when to look for another daemon
    std::string refused;  // why another daemon did not take the job in
  };
  // Whether the user holds the job, by its terminal.
  struct held {
    bool is = false;
    bool asked_again = false;  // the job was held already when a pause was last asked for
  };

  freezer& by_;
  connection to_;
  const job_settings& job_;
  const accepted as_;
  const pid_t parent_ = getppid();
  const scheduling scheduling_ = own_scheduling();  // as the user wants the job to be scheduled
  std::vector<change> timetable_;
  phase phase_ = phase::queued;
  pid_t first_ = 0;
  std::optional<int> status_;  // how the first process has ended, once it has
  bool ends_ = false;          // a signal ends it, with what the first process leaves behind
  moment look_again_at_ = moment::max();
  held held_;
  std::optional<moment> deadline_;
};

// Makes this process the keeper from then on. It ends the job if its parent dies.
[[noreturn]] void become_keeper(freezer& by, channel daemon, const job_settings& job,
                                const accepted& as, pid_t parent) {
  prctl(PR_SET_NAME, "gang-keeper");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t set = keepers_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const channel signals(signalfd(-1, &set, SFD_CLOEXEC));
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  _exit(keeper(by, std::move(daemon), job, as).keep(signals.descriptor()));
}

// Runs in the keeper's parent: passes on what asks for an end, and returns the job's status. If the
// keeper is killed, the parent continues and ends what the keeper may have left stopped.
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

int run(const job_settings& job) {
  if (!job.name.empty() && !is_job_name(job.name))
    throw apps::usage_error(fmt::format(
        "--job: '{}': expected at most 80 letters, digits, '.', '_' and '-'", job.name));
  channel daemon = connect_to(job.socket);
  const auto by = freezer::make(job.stop_by);
  if (!daemon.send(request_for(job, job.name)))
    throw std::runtime_error(fmt::format("{}: the daemon takes no request", job.socket));
  const auto reply = daemon.receive();
  if (!reply || !reply->contains("job"))
    throw std::runtime_error(fmt::format(
        "{}: the daemon refused the job{}", job.socket,
        reply && reply->contains("error") ? ": " + reply->at("error").get<std::string>() : ""));
  const accepted as{reply->at("job").get<std::string>(), reply->value("joined", false),
                    has_job_control()};
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, SIG_DFL);  // this process's parent may have ignored SIGCHLD
  const sigset_t set = handled_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const channel signals(signalfd(-1, &set, SFD_CLOEXEC));
  const pid_t self = getpid(), child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) become_keeper(*by, std::move(daemon), job, as, self);
  daemon = channel();  // the keeper alone has it: the connection ends with the job
  const int status = guard(child, signals.descriptor());
  // The keeper blocks SIGINT, and dies of it only if its job has.
  const bool interrupted = was_interrupted(status);
  if ((WIFSIGNALED(status) && !interrupted) || waitpid(-1, nullptr, WNOHANG) >= 0) end_rest(*by);
  if (interrupted) die_interrupted();
  return status_of(status);
}

}  // namespace gang
