// A real nats-server for a test, on a free port of loopback. It ends with the object.
#pragma once

#include "temporary_folder.hpp"

#include "nats/access.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace cleave::tests {

class relay {
public:
  static bool installed() {
    return std::system("command -v nats-server >/dev/null 2>&1") == 0;  // NOLINT(cert-env33-c)
  }
  /// `configuration`: beside where it listens.
  explicit relay(const std::string& configuration = {}) : configuration_(configuration) { start(); }
  ~relay() { stop(SIGKILL); }
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  /// As `cleave invite` and `cleave revoke` do while it runs.
  void change(const std::string& configuration) {
    configuration_ = configuration;
    configure();
    kill(pid_, SIGHUP);
  }
  void start() {
    configure();
    const std::string folder = folder_.path.string();
    const std::string file = folder + "/relay.conf", log = folder + "/log";
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      execlp("nats-server", "nats-server", "-c", file.c_str(), "-l", log.c_str(), nullptr);
      _exit(127);
    }
    const std::string ports = folder + "/nats-server_" + std::to_string(pid_) + ".ports";
    for (int i = 0; i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::string text = read(ports);
      std::smatch found;
      if (std::regex_search(text, found, std::regex("://127\\.0\\.0\\.1:([0-9]+)\""))) {
        port_ = std::stoi(found[1]);
        return;
      }
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
    }
    throw std::runtime_error("nats-server does not start: " + read(log));
  }
  void stop(int signal = SIGTERM) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    if (signal == SIGSTOP || signal == SIGCONT) return;
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  int port() const { return port_; }
  std::string log() const { return read(folder_.path / "log"); }

  net::nats::access machine(const std::string& name, const std::string& site = "here") const {
    return {site, name, {"nats://127.0.0.1:" + std::to_string(port_)}, {}, {}, {}};
  }

private:
  void configure() const {
    std::ofstream(folder_.path / "relay.conf") << "listen: 127.0.0.1:" << port_ << "\n"
                                               << "ports_file_dir: " << folder_.path << "\n"
                                               << configuration_ << "\n";
  }
  static std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  std::string configuration_;
  temporary_folder folder_;
  int port_ = -1;
  pid_t pid_ = 0;
};

}  // namespace cleave::tests
