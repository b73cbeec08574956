#pragma once

#include <poll.h>
#include <cstdint>
#include <vector>

namespace cleave::cosched {

/// The file descriptors through which other nodes reach this process: those that MPI, looking for
/// something to do, asks the kernel about without waiting. Told by whoever stands in front of
/// poll() and epoll_wait(). Who waits for the same ones, and for the same events, misses nothing
/// that MPI would find.
///
/// Touched by the thread that is inside a call of MPI.
class descriptors {
public:
  /// From now on. Before that, nothing is kept.
  void watch() noexcept { watched_ = true; }
  /// No more.
  void ignore() noexcept { watched_ = false; }
  bool is_watched() const noexcept { return watched_; }

  /// MPI looks once at everything, from here on.
  void begin_look() noexcept;
  /// In this look it asked about these, or about all that an epoll descriptor has; so many of them
  /// were ready.
  void asked(const pollfd* some, nfds_t n, int ready);
  void asked(int epoll, int ready);

  /// Of the look that is under way, or was the last one.
  const std::vector<pollfd>& all() const noexcept { return all_; }
  bool some_ready() const noexcept { return ready_; }
  /// In how many looks something was ready, so far.
  std::uint64_t events() const noexcept { return events_; }

private:
  void count(int ready) noexcept;

  bool watched_ = false, ready_ = false;
  std::uint64_t events_ = 0;
  std::vector<pollfd> all_;
};

}  // namespace cleave::cosched
