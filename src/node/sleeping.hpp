#pragma once

#include "node/clock.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <mutex>

namespace cleave::net {

/// The sleep of the driver's thread, and a worker that watches in its place while it waits itself.
///
/// Invariant: one thread at a time does the driver's work, with `stepping_`. Where a worker
/// watches, what comes wakes nobody: it looks, or it has the thread sleep for a millisecond at
/// most.
class sleeping {
public:
  /// The driver's work, which is called with the mutex.
  class work {
  public:
    /// Does all that can be done at once. Returns true if whoever has something rings from then on.
    virtual bool step_and_fall_asleep() = 0;
    /// Takes in what a look has found. Returns false if there is more to do than that.
    virtual bool hear_members() = 0;
    virtual instant time_to_sleep(instant at) const = 0;
    /// Whether the thread is to wake up for good.
    virtual bool is_over() const noexcept = 0;

  protected:
    ~work() = default;
  };

  sleeping(transport& carries, work& what) : carries_(carries), work_(what) {}

  /// The driver's thread: works and sleeps until `is_over` holds, which is called before each step.
  template <class IsOver>
  void loop(IsOver is_over) {
    std::unique_lock stepping(stepping_);
    is_going_ = true;
    while (!is_over()) {
      if (work_.step_and_fall_asleep()) sleep(stepping);
    }
    is_going_ = false;
  }

  // These implement detail::message_watch; a worker's thread calls them.

  bool begin_watch() noexcept;
  bool look() noexcept;
  void keep_watch() noexcept;
  void end_watch() noexcept;

private:
  void sleep(std::unique_lock<std::mutex>& stepping);
  void wake_thread() noexcept;

  transport& carries_;
  work& work_;
  std::mutex stepping_;     // before all others
  bool is_going_ = false;   // loop(); with that mutex
  instant sleeps_until_{};  // with that mutex
  std::atomic<bool> watched_{false};
  std::atomic<bool> kept_{false};  // what is watched may not be looked at for a while
  std::atomic<bool> naps_{false};  // the thread does not sleep for longer than such a while
};

}  // namespace cleave::net
