#include "relay/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "gang/channel.hpp"
#include "relay/bridge.hpp"
#include "relay/keys.hpp"
#include "relay/log.hpp"
#include "sites/write_some.hpp"
#include "support/command_line.hpp"

namespace relay {
namespace {

namespace fs = std::filesystem;
using gang::channel;
using nlohmann::json;
using kind = cleave::machine::saved_file::kind;
using std::chrono::steady_clock;

constexpr auto longest_end = std::chrono::seconds(5);
constexpr auto longest_reload = std::chrono::seconds(10);

// Says a line. What nobody reads at once is lost: nats-server must not wait for it. Any thread may
// call it.
void say(const std::string& line) {
  static const int to = sites::descriptor_for(STDERR_FILENO);
  std::string text = "cleave relay: " + line + "\n";
  sites::write_some(to, text);
}

struct server {
  pid_t pid = -1;
  channel log{};  // what the server writes
};

// Starts the server in the folder; it ends with this process, however that ends.
server start(const fs::path& folder, const std::string& program, const sigset_t& signals) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
  channel read(ends[0]), write(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(fmt::format("no process: {}", std::strerror(errno)));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);  // Ctrl-C is for the relay, which ends the server
    sigprocmask(SIG_UNBLOCK, &signals, nullptr);
    if (getppid() == parent && chdir(folder.c_str()) == 0 && dup2(ends[1], STDERR_FILENO) >= 0 &&
        dup2(ends[1], STDOUT_FILENO) >= 0)
      execl(program.c_str(), "nats-server", "-c", "nats-server.conf", nullptr);
    _exit(127);
  }
  return {pid, std::move(read)};
}

class relay_process {
public:
  relay_process(fs::path folder, configuration c) : folder_(std::move(folder)), c_(std::move(c)) {}

  int run(const access& above) {
    const std::string program = find_server();
    const channel listener = listen();
    {
      const changing now(folder_);
      if (!above.name.empty()) keep(above);
      const auto key = make_nkey();  // the key of this run, which is in memory alone
      bridge_seed_ = key.seed;
      c_.members = read_folder(folder_).members, c_.revoked = read_folder(folder_).revoked;
      c_.bridge_key = key.public_key;
      if (!c_.plain) write_certificate(folder_, c_);
      write_folder(folder_, c_);
      log_.know(c_);
    }
    sigset_t signals;
    sigemptyset(&signals);
    for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, s);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);
    const channel told(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    server_ = start(folder_, program, signals);
    for (;;) {
      std::vector<pollfd> polled{{server_.log.descriptor(), POLLIN, 0},
                                 {told.descriptor(), POLLIN, 0},
                                 {listener.descriptor(), POLLIN, 0}};
      if (poll(polled.data(), polled.size(), reload_.on || end_.on ? 100 : -1) < 0 &&
          errno != EINTR)
        throw std::runtime_error(fmt::format("poll: {}", std::strerror(errno)));
      if (polled[0].revents != 0 && !read_log()) return ended();
      if (polled[1].revents != 0) take_signal(told);
      if (polled[2].revents != 0) take_request(listener);
      const bool late = reload_.on && steady_clock::now() - reload_.begun > longest_reload;
      if (late) reloaded("nats-server does not read its settings");
      const bool must_end = end_.on && steady_clock::now() - end_.since > longest_end;
      if (must_end) kill(server_.pid, SIGKILL);
    }
  }

private:
  void keep(const access& above) {
    cleave::net::nats::write_access(folder_ / "upstream.cleave", above, kind::secret);
  }

  channel listen() {
    try {
      return gang::listen_at((folder_ / "control").string(), lock_);
    } catch (const apps::usage_error&) {
      throw apps::usage_error(
          fmt::format("'{}': another relay runs in it, or its name is too long for a socket",
                      folder_.string()));
    }
  }

  // Reads the log. False at its end: the server has ended.
  bool read_log() {
    char part[4096];
    const auto got = read(server_.log.descriptor(), part, sizeof part);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    pending_.append(part, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = pending_.find('\n', begin)) != pending_.npos; begin = end + 1)
      take_line(std::string_view(pending_).substr(begin, end - begin));
    pending_.erase(0, begin);
    return true;
  }

  void take_line(std::string_view line) {
    const auto heard = log_.read(line, steady_clock::now());
    if (!heard.say.empty()) say(heard.say);
    switch (heard.what) {
      case log::event::none: return;
      case log::event::ready: return ready();
      case log::event::reloaded: return reloaded("");
      case log::event::not_reloaded: return reloaded("nats-server refuses its settings");
    }
  }

  void ready() {
    const auto own = access_to(folder_, c_);
    std::string urls;
    for (const auto& url : own.urls) urls += (urls.empty() ? "" : " ") + url;
    say(fmt::format("ready: {}, {}", c_.site, urls));
    if (c_.upstream && !bridge_) join();
    ready_ = true;
    begin_reload();
  }

  void join() {
    auto own = access_from_here(folder_, c_);
    own.name = relay_name, own.public_key = c_.bridge_key, own.seed = bridge_seed_;
    bridge_ = make_bridge(cleave::net::nats::read_access(folder_ / "upstream.cleave"), own, say);
  }

  void take_signal(const channel& told) {
    signalfd_siginfo what{};
    while (read(told.descriptor(), &what, sizeof what) == sizeof what) {
      if (what.ssi_signo == SIGHUP) {
        reload_.wanted = true, begin_reload();
        continue;
      }
      // The second time the server is killed at once.
      kill(server_.pid, end_.on ? SIGKILL : SIGTERM);
      if (!std::exchange(end_.on, true)) end_.since = steady_clock::now();
    }
  }

  void take_request(const channel& listener) {
    channel from = gang::accept_from(listener);
    if (from.descriptor() < 0) return;
    reload_.waiting.push_back(
        std::move(from));  // whatever a client says, there is only one thing to ask for
    reload_.wanted = true, begin_reload();
  }

  // Begins a reload if one is wanted. There is one at a time: the server may take two signals for
  // one. A signal before the server is ready could end it.
  void begin_reload() {
    if (!ready_ || reload_.on || !std::exchange(reload_.wanted, false)) return;
    try {
      const changing now(folder_);
      c_.members = read_folder(folder_).members, c_.revoked = read_folder(folder_).revoked;
    } catch (const std::exception& e) { say(e.what()); }
    log_.know(c_);
    reload_.served.splice(reload_.served.end(), reload_.waiting);
    reload_.on = true, reload_.begun = steady_clock::now();
    kill(server_.pid, SIGHUP);
  }

  void reloaded(const std::string& wrong) {
    for (const auto& to : reload_.served) to.send({{"wrong", wrong}});
    reload_.served.clear();
    reload_.on = false;
    begin_reload();
  }

  int ended() {
    int status = 0;
    while (waitpid(server_.pid, &status, 0) < 0 && errno == EINTR) {}
    bridge_.reset();
    if (end_.on) return 0;
    say(WIFSIGNALED(status)
            ? fmt::format("nats-server was killed by signal {}", WTERMSIG(status))
            : fmt::format("nats-server has ended with status {}", WEXITSTATUS(status)));
    return 1;
  }

  struct reload {
    bool on = false, wanted = false;
    steady_clock::time_point begun{};
    // The clients that the next reload serves, and this one.
    std::list<channel> waiting{}, served{};
  };
  struct ending {
    bool on = false;
    steady_clock::time_point since{};
  };

  const fs::path folder_;
  configuration c_;
  std::string bridge_seed_;
  channel lock_{};
  server server_{};
  log log_{};
  std::string pending_{};
  std::unique_ptr<bridge> bridge_{};
  bool ready_ = false;
  reload reload_;
  ending end_;
};

}  // namespace

std::string find_server() {
  const char* const path = std::getenv("PATH");
  std::string folders = std::string(path != nullptr ? path : "") + ":/usr/local/sbin:/usr/sbin";
  for (std::size_t begin = 0, end; begin <= folders.size(); begin = end + 1) {
    end = std::min(folders.find(':', begin), folders.size());
    const auto file = folders.substr(begin, end - begin) + "/nats-server";
    if (file.size() > 12 && ::access(file.c_str(), X_OK) == 0) return file;
  }
  throw apps::usage_error("nats-server is not installed (Debian and Ubuntu: nats-server)");
}

int run(const fs::path& folder, configuration c, const access& above) {
  return relay_process(folder, std::move(c)).run(above);
}

std::optional<std::string> reload(const fs::path& folder) {
  channel to;
  try {
    to = gang::connect_to((folder / "control").string());
  } catch (const apps::usage_error&) {  // perhaps no relay runs: one that runs holds the lock
    const channel lock(open((folder / "control.lock").c_str(), O_RDWR | O_CLOEXEC));
    if (lock.descriptor() < 0 || flock(lock.descriptor(), LOCK_EX | LOCK_NB) == 0) return {};
    return "cannot be reached";
  }
  const timeval patience{longest_reload.count() + 5, 0};
  setsockopt(to.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto answer = to.receive();
  if (!answer) return "does not answer, or has ended meanwhile";
  std::string wrong = answer->value("wrong", "");
  if (wrong.empty()) return std::nullopt;
  return wrong;
}

}  // namespace relay
