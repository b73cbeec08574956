#pragma once

#include <poll.h>
#include <cstdint>
#include <vector>

namespace cleave::cosched {

/// The file descriptors through which other nodes reach this process: those that MPI, looking for
/// something to do, asks the kernel about without waiting. Whatever stands in front of poll() and
/// epoll_wait() tells them. A rank that waits for the same ones, and for the same events, misses
/// nothing that MPI would find.
///
/// Touched by the thread that is inside a call of MPI.
class descriptors {
public:
  /// Descriptors are kept from this call on.
  void watch() noexcept { watched_ = true; }
  /// No descriptors are kept from this call on.
  void ignore() noexcept { watched_ = false; }
  bool is_watched() const noexcept { return watched_; }

  /// MPI begins to look once at everything.
  void begin_look() noexcept;
  /// MPI has asked in this look about these descriptors, or about all that an epoll descriptor has;
  /// `ready` of them were ready.
  void asked(const pollfd* some, nfds_t n, int ready);
  void asked(int epoll, int ready);

  /// The descriptors that MPI has asked about in the look that is under way, or else in the last
  /// one.
  const std::vector<pollfd>& all() const noexcept { return all_; }
  bool some_ready() const noexcept { return ready_; }
  /// The number of looks in which something was ready.
  std::uint64_t events() const noexcept { return events_; }

private:
  void count(int ready) noexcept;

  bool watched_ = false, ready_ = false;
  std::uint64_t events_ = 0;
  std::vector<pollfd> all_;
};

}  // namespace cleave::cosched
