#pragma once

#include "machine/futex.hpp"

#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

/// What waking costs without any of ours.
namespace cleave::tests {

inline std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

/// A process that sleeps until it is woken by the operating system alone, and tells how long it
/// took. Another of its threads can compute meanwhile, as a rank's worker does.
class sleeper {
public:
  explicit sleeper(bool on_socket) : socket_(on_socket ? open_socket() : -1) {
    void* const memory =
        mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory");
    shared_ = new (memory) shared;
    child_ = fork();
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sleep_and_answer();
  }
  ~sleeper() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;

  double wake_us() {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // until it sleeps
    const std::uint32_t n = shared_->rung.load() + 1;
    const std::int64_t since = now_ns();
    shared_->rung.store(n);
    if (socket_ < 0) {
      cleave::machine::wake_shared(shared_->rung);
    } else {
      (void)!sendto(socket_, &n, sizeof n, 0, reinterpret_cast<const sockaddr*>(&bound_),
                    sizeof bound_);
    }
    while (shared_->answered.load() != n)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    return 1e-3 * static_cast<double>(shared_->awake_at.load() - since);
  }
  double wake_computing_us() {
    shared_->computing.store(1);
    cleave::machine::wake_shared(shared_->computing);
    const double took = wake_us();
    shared_->computing.store(0);
    return took;
  }

private:
  struct shared {
    std::atomic<std::uint32_t> rung{0}, answered{0}, computing{0};
    std::atomic<std::int64_t> awake_at{0};
  };

  int open_socket() {
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    bound_.sin_family = AF_INET;
    bound_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof bound_;
    if (bind(s, reinterpret_cast<const sockaddr*>(&bound_), length) != 0 ||
        getsockname(s, reinterpret_cast<sockaddr*>(&bound_), &length) != 0)
      throw std::runtime_error("no socket");
    return s;
  }

  [[noreturn]] void compute_when_told() {
    for (;;) {
      while (shared_->computing.load() == 0)
        cleave::machine::block_shared(shared_->computing, 0, std::chrono::hours(1));
      while (shared_->computing.load() != 0) {}
    }
  }
  [[noreturn]] void sleep_and_answer() {
    std::thread([this] { compute_when_told(); }).detach();
    for (std::uint32_t seen = 0;; ++seen) {
      std::uint32_t got = 0;
      if (socket_ < 0) {
        while (shared_->rung.load() == seen)
          cleave::machine::block_shared(shared_->rung, seen, std::chrono::hours(1));
      } else {
        (void)!recv(socket_, &got, sizeof got, 0);
      }
      shared_->awake_at.store(now_ns());
      shared_->answered.store(seen + 1);
    }
  }

  sockaddr_in bound_{};
  int socket_;
  shared* shared_ = nullptr;
  pid_t child_ = 0;
};

}  // namespace cleave::tests
