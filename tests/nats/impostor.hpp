// Somebody who listens on loopback where a relay is expected.
#pragma once

#include "machine/descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cerrno>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cleave::tests {

class impostor {
public:
  /// Who has connected, from the impostor's side. Used in one thread.
  class caller {
  public:
    explicit caller(int socket) : socket_(socket) {}
    void say(const std::string& text) const {
      static_cast<void>(!send(socket_, text.data(), text.size(), MSG_NOSIGNAL));
    }
    /// The next line, without its end; empty when the caller has gone.
    std::string line() {
      for (std::size_t end; (end = heard_.find("\r\n")) == heard_.npos;) {
        char part[4096];
        const auto got = recv(socket_, part, sizeof part, 0);
        if (got <= 0) return {};
        heard_.append(part, static_cast<std::size_t>(got));
      }
      const auto end = heard_.find("\r\n");
      std::string first = heard_.substr(0, end);
      heard_.erase(0, end + 2);
      return first;
    }
    void until_gone() {
      char any[4096];
      while (recv(socket_, any, sizeof any, 0) > 0) {}
    }

  private:
    int socket_;
    std::string heard_;
  };
  /// `each`: for each caller, in a thread of its own, with how many came before.
  explicit impostor(std::function<void(caller&, int)> each)
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    if (bind(*listener_, address, size) != 0 || listen(*listener_, 8) != 0 ||
        getsockname(*listener_, address, &size) != 0)
      throw std::system_error(errno, std::generic_category(), "impostor");
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this, each = std::move(each)] { run(each); });
  }
  ~impostor() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      shutdown(*listener_, SHUT_RDWR);
      for (const auto& one : callers_) shutdown(*one, SHUT_RDWR);
    }
    thread_.join();
  }
  impostor(const impostor&) = delete;
  impostor& operator=(const impostor&) = delete;

  int port() const { return port_; }
  /// What a relay says first; `more`: fields of JSON, each with a comma before it.
  static std::string greeting(const std::string& more) {
    return "INFO {\"server_id\":\"IMPOSTOR\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,"
           "\"max_payload\":1048576" +
           more + "}\r\n";
  }

private:
  void run(const std::function<void(caller&, int)>& each) {
    std::vector<std::thread> threads;
    for (int count = 0;; ++count) {
      machine::descriptor one(accept4(*listener_, nullptr, nullptr, SOCK_CLOEXEC));
      const std::lock_guard lock(mutex_);
      if (over_) break;
      const int socket = *callers_.emplace_back(std::move(one));
      threads.emplace_back([&each, socket, count] {
        caller who(socket);
        each(who, count);
        shutdown(socket, SHUT_RDWR);
      });
    }
    for (auto& t : threads) t.join();
  }

  machine::descriptor listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::deque<machine::descriptor> callers_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace cleave::tests
