#include "sites/serve.hpp"

#include "machine/descriptor.hpp"
#include "machine/ignored.hpp"
#include "machine/random.hpp"
#include "nats/connection.hpp"
#include "sites/children.hpp"
#include "sites/supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view root_process = "-0";  // stands after the job's name

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

cleave::machine::descriptor made(int number, const char* what) {
  if (number < 0) fail(what);
  return cleave::machine::descriptor(number);
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set, s);
  if (!cleave::machine::is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
  return set;
}

/// A descriptor that can be read when a connection has something: it waits for that in a thread of
/// its own.
class readable_connection {
public:
  explicit readable_connection(connection& of)
      : of_(of), event_(made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")), thread_([this] {
          while (!over_) {
            of_.wait(10s);
            const std::uint64_t one = 1;
            static_cast<void>(!write(*event_, &one, sizeof one));
            taken_.acquire();
          }
        }) {}
  ~readable_connection() {
    over_ = true;
    taken_.release();
    of_.ring();
    thread_.join();
  }
  readable_connection(const readable_connection&) = delete;
  readable_connection& operator=(const readable_connection&) = delete;

  int fd() const noexcept { return *event_; }
  /// Called before all letters are received.
  void begin() noexcept {
    std::uint64_t count = 0;
    has_rung_ = read(*event_, &count, sizeof count) == sizeof count;
  }
  /// Called after all letters were received.
  void end() noexcept {
    if (has_rung_) taken_.release();
  }

private:
  connection& of_;
  const cleave::machine::descriptor event_;
  std::counting_semaphore<> taken_{0};
  std::atomic<bool> over_{false};
  bool has_rung_ = false;
  std::thread thread_;
};

class server final : supervisor_port {
public:
  server(connection& by, const supervisor::identity& self, words environment)
      : by_(by), children_(std::move(environment)), jobs_(self, *this) {}

  void run(int signals);

private:
  static moment now() { return std::chrono::steady_clock::now(); }
  void hear(const letter& l);
  int time_to_wait() const;

  bool start_node(const std::string& job, const words& arguments, const std::string& ask,
                  const machine& root, bool is_root) override {
    if (children_.start({job, root.text(), arguments, ask, is_root})) return true;
    say("a process for job " + job + " cannot be started: " + std::strerror(errno));
    return false;
  }
  void ask_to_leave(const std::string& job) override { children_.signal(job, SIGTERM); }
  void kill(const std::string& job) override { children_.signal(job, SIGKILL); }
  void send(const endpoint& to, const control& message) override {
    by_.send(to, kind_of(message), encode(message));
  }
  void tell_all(const control& message) override {
    by_.tell_all(std::string(kind_of(message)), encode(message));
  }
  void say(const std::string& line) override { std::fprintf(stderr, "cleave: %s\n", line.c_str()); }

  connection& by_;
  children children_;
  supervisor jobs_;
};

void server::hear(const letter& l) {
  const std::string_view content(reinterpret_cast<const char*>(l.content.data()), l.content.size());
  if (l.to_all && l.topic.starts_with(presence_topic)) {
    const std::string job = l.topic.substr(presence_topic.size());
    presence p;
    if (l.from.at != by_.self().at || !l.from.process.starts_with(job + "-") ||
        decode(content, p) != nullptr)
      return;
    jobs_.node_says(job, p);
    if (l.from.process != job + std::string(root_process)) return;
    p.here ? jobs_.root_joined(now(), job) : jobs_.root_left(now(), job);
    return;
  }
  control message;
  // A message of another version, or a damaged one, is passed over: this machine could do nothing
  // about it.
  if (decode(l.topic, content, message) == nullptr) jobs_.hear(now(), l.from, message);
}

int server::time_to_wait() const {
  const moment until = jobs_.next();
  if (until == moment::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void server::run(int signals) {
  readable_connection letters(by_);
  const children::events tell{
      [this](const std::string& job, part::of what, std::string text) {
        jobs_.wrote(now(), job, what, std::move(text));
      },
      [this](const std::string& job, child_end how) { jobs_.ended(now(), job, how); }};
  std::vector<pollfd> polled;
  bool was_up = true;
  while (!jobs_.is_done()) {
    polled = {{signals, POLLIN, 0}, {letters.fd(), POLLIN, 0}};
    children_.poll_for(polled, [this](const std::string& job) { return jobs_.wants_output(job); });
    if (poll(polled.data(), polled.size(), time_to_wait()) < 0 && errno != EINTR) fail("poll");

    signalfd_siginfo signal{};
    while (read(signals, &signal, sizeof signal) == sizeof signal)
      if (signal.ssi_signo != SIGCHLD) jobs_.leave(now());
    letters.begin();
    while (const auto l = by_.receive()) hear(*l);
    letters.end();
    const bool up = by_.is_up();
    if (!up || !was_up) jobs_.cut_off(now());
    was_up = up;
    children_.look(polled, tell);
    jobs_.tick(now());
    if (const auto why = by_.refusal()) throw refused(*why);
  }
}

/// Tries until the relay is there; null if a signal comes first.
std::unique_ptr<connection> connect(const access& who, int signals) {
  connection::settings how;
  how.give_up = [signals] {
    pollfd polled{signals, POLLIN, 0};
    return poll(&polled, 1, 0) > 0;
  };
  for (bool said = false;; said = true) try {
      return std::make_unique<connection>(who, "serve-" + random_token(), how);
    } catch (const unreachable& e) {
      if (!said) std::fprintf(stderr, "cleave: %s; trying again\n", e.what());
      pollfd polled{signals, POLLIN, 0};
      if (poll(&polled, 1, 1000) > 0) return nullptr;
    }
}

}  // namespace

int serve(const access& who, const std::filesystem::path& key, const serve_settings& what) {
  signal(SIGCHLD, SIG_DFL);  // the parent of this process may have ignored SIGCHLD
  // The signals are blocked before there are threads, so that all threads leave them to the
  // descriptor.
  const sigset_t handled = handled_signals();
  pthread_sigmask(SIG_BLOCK, &handled, nullptr);
  const cleave::machine::descriptor signals =
      made(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");

  const auto connected = connect(who, *signals);
  if (connected == nullptr) return 0;
  connection& by = *connected;
  for (const char* topic : {"who", "jobs"}) by.listen(topic);
  // The server listens only to nodes of this machine: they say whether a root is there, and what
  // they do.
  by.listen_to(subject_to_all({by.self().at, "*"}, std::string(presence_topic) + "*"));
  words environment = {"CLEAVE_KEY=" + std::filesystem::absolute(key).string()};
  if (what.workers != 0) {
    for (const char* name : {"CLEAVE_WORKERS=", "CLEAVE_MOST_WORKERS="})
      environment.push_back(name + std::to_string(what.workers));
  }
  const std::uint32_t workers = what.workers != 0 ? what.workers : what.usual_workers;
  const nats::who asks;
  by.tell_all(std::string(kind_of(asks)), encode(asks));
  server s(by, {by.self(), what.program, cleave::machine::in_hexadecimal(what.hash), workers},
           std::move(environment));
  std::fprintf(stderr, "cleave: %s offers %s to site %s, %u worker%s; Ctrl-C leaves\n",
               who.name.c_str(), what.program.c_str(), who.site.c_str(), workers,
               workers == 1 ? "" : "s");
  s.run(*signals);
  return 0;
}

}  // namespace cleave::net::nats

/// What the library calls (transport/plugin.hpp).
extern "C" __attribute__((visibility("default"))) int cleave_serve(
    unsigned version, const cleave::net::serve_settings& what, std::string& error) try {
  using namespace cleave::net::nats;
  if (version != cleave::net::plugin_version) {
    error = "the plug-in is of another version of Cleave";
    return 1;
  }
  const auto key = find_key(what.where);
  return serve(read_machines_access(key), key, what);
} catch (const std::invalid_argument& e) {
  error = e.what();
  return 2;
} catch (const cleave::net::nats::refused& e) {
  error = e.what();
  return 2;
} catch (const std::exception& e) {
  error = e.what();
  return 1;
}
