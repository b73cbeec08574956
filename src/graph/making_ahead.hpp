#pragma once

#include "core/watch.hpp"

#include <cleave/detail/task.hpp>

#include <atomic>
#include <cstdint>

namespace cleave::detail {

/// How far the owner of a graph of a team makes it ahead of what is done.
///
/// Invariant: nobody waits here for longer than the owner would take to be woken, so a graph of
/// which all that is made has to wait for what is not made yet goes on. While little is ready the
/// owner makes more; where enough is made it does what it does in wait(): it receives what other
/// nodes send, and runs what that makes ready. Without that messages would wait for the driver's
/// thread, and each subtask would be made in memory that no cache has.
class making_ahead {
public:
  making_ahead(group_scope& of, message_watch* messages) noexcept;
  ~making_ahead();
  making_ahead(const making_ahead&) = delete;
  making_ahead& operator=(const making_ahead&) = delete;

  // The owner calls these.

  /// A subtask has been made that runs here.
  void made() noexcept { ++made_; }
  /// Called after each subtask, wherever it runs.
  void go_on() noexcept;

  /// A subtask has been done that ran here. Any thread.
  void done() noexcept { done_.fetch_add(1, std::memory_order_relaxed); }

private:
  bool run_ready() noexcept;
  std::uint32_t ahead() const noexcept { return made_ - done_.load(std::memory_order_relaxed); }

  group_scope& of_;
  watch messages_;
  const std::uint32_t few_;  // so many are always made
  std::uint32_t patience_;   // with more than so many the owner waits a moment
  std::uint32_t made_ = 0;
  std::uint32_t calls_ = 0;             // of go_on()
  std::atomic<std::uint32_t> done_{0};  // of those
};

}  // namespace cleave::detail
