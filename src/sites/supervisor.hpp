#pragma once

#include "nats/subjects.hpp"
#include "sites/control.hpp"
#include "sites/outbox.hpp"

#include <map>
#include <optional>
#include <string>

/// A server (`queens --serve`) as a pure state machine: what it hears, and the time, goes in;
/// processes to start and messages to send come out. It owns no process, connection or clock.
namespace cleave::net::nats {

/// What a supervisor does. Called from within its functions; must not call back.
class supervisor_port {
public:
  virtual ~supervisor_port() = default;
  /// Starts a process of the job, at most one at a time. False if it cannot be started.
  /// `ask`: CLEAVE_ASK of the process; empty: this server's own.
  virtual bool start_node(const std::string& job, const words& arguments, const std::string& ask,
                          const machine& root, bool is_root) = 0;
  /// Sends a signal to the process of that job.
  virtual void ask_to_leave(const std::string& job) = 0;
  virtual void kill(const std::string& job) = 0;
  virtual void send(const endpoint& to, const control& message) = 0;
  virtual void tell_all(const control& message) = 0;
  /// Says one line to the people of this machine.
  virtual void say(const std::string& line) = 0;
};

/// How a process of a job has ended.
struct child_end {
  bool killed = false;  // whether a signal has killed it
  int status = 0;       // the exit status, or the signal's number
  int as_shell() const noexcept { return killed ? 128 + status : status; }
};

/// Why a job may not have these arguments; nothing if it may. The submitter asks, and each server.
std::optional<std::string> wrong_arguments(const std::vector<std::string>& of);

class supervisor {
public:
  struct identity {
    endpoint self;
    std::string program, hash;
    std::uint32_t workers = 0;
  };
  supervisor(identity self, supervisor_port& port) : self_(std::move(self)), port_(port) {}

  void hear(moment now, const endpoint& from, const control& message);
  /// The node with the root of this job is there: others can help now.
  void root_joined(moment now, const std::string& job);
  /// The node with the root is not there any more; its program may go on alone.
  void root_left(moment now, const std::string& job);
  /// Tells what a node here says of itself, for those who ask.
  void node_says(const std::string& job, const presence& p);
  void wrote(moment now, const std::string& job, part::of what, std::string text);
  /// The job's process here has ended, and all that it wrote has been told.
  void ended(moment now, const std::string& job, child_end how);
  /// This machine can hear nobody, so nobody's silence counts until now.
  void cut_off(moment now);
  /// This server takes no new jobs, and its members leave theirs. Called a second time, everything
  /// ends at once.
  void leave(moment now);
  void tick(moment now);

  /// When tick() has something to do next, at the latest.
  moment next() const;
  /// Whether the server leaves, and nothing of any job is here any more.
  bool is_done() const;
  /// Whether what this job writes should be read: not while its submitter is slow.
  bool wants_output(const std::string& job) const;

private:
  /// A job whose root this server has.
  ///
  ///   running ---its process ends---> ended ---the submitter has all, or is silent---> gone
  ///      '------cancelled, or the submitter is silent---> killed ---its process ends---> gone
  struct rooted {
    enum class state : std::uint8_t { running, ended, killed };
    state is = state::running;
    endpoint submitter;
    words arguments;
    std::string ask;
    std::chrono::seconds patience{};
    moment since, heard;  // when the job came, and when its submitter was last heard
    bool joined = false;  // the job's node here has joined, so that others are told of the job
    moment tell_at{};
    outbox out;
    presence said{};  // what its node here has said last
  };
  /// A job that another server has the root of.
  ///
  ///   waiting ---announced---> running ---its process ends---> waiting
  ///   running ---over, or not heard of---> killed ---its process ends---> gone
  ///   running ---its process has failed too often---> given_up
  ///   waiting, given_up ---over, or not heard of---> gone
  struct helped {
    enum class state : std::uint8_t { waiting, running, killed, given_up };
    state is = state::waiting;
    endpoint root;
    words arguments;
    std::string ask;
    moment since, heard;          // when the job was first heard of, and the root's server last
    moment start_at, begun_at{};  // when its process may start, and when it began
    unsigned failures = 0;
    presence said{};  // what its node here has said last
  };

  void on(moment now, const endpoint& from, const who& m);
  void on(moment now, const endpoint& from, const start& m);
  void on(moment now, const endpoint& from, const beat& m);
  void on(moment now, const endpoint& from, const cancel& m);
  void on(moment now, const endpoint& from, const notice& m);
  template <class Other>
  void on(moment, const endpoint&, const Other&) {}

  void announce(moment now, const std::string& job, rooted& r, bool over);
  void give_up(moment now, const std::string& job, rooted& r, const std::string& why);
  void begin(moment now, const std::string& job, helped& h);
  std::optional<std::string> why_not(const start& m) const;
  rooted* rooted_of(const endpoint& from, const std::string& job);

  const identity self_;
  supervisor_port& port_;
  std::map<std::string, rooted> rooted_;
  std::map<std::string, helped> helped_;
  std::optional<moment> leaving_since_;
  bool killed_leavers_ = false;
};

}  // namespace cleave::net::nats
