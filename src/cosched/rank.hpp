#pragma once

#include "cosched/clock.hpp"
#include "cosched/node.hpp"
#include "cosched/report.hpp"
#include "cosched/spin_time.hpp"

#include <atomic>
#include <memory>
#include <optional>

namespace cleave::cosched {

/// This process, as MPI's callers see it: which call it is in, and how it waits there. Told by
/// interpose.cpp where calls begin and end, and by the progress hook whether MPI, looking once at
/// everything, found anything.
///
/// The invariant: only the thread that is inside a call touches it. MPI sees to that, except under
/// MPI_THREAD_MULTIPLE; there the first call from a second thread makes the rank stand aside for
/// good.
///
///             start()          stand_aside()
///     absent ---------> active --------------> aside
///
/// Absent, it does nothing. Aside, it never sleeps and still rings the others.
class rank {
public:
  enum class state : unsigned { absent, active, aside };

  void start(std::unique_ptr<node> shared, unsigned me, unsigned tests, spin_time spinning,
             bool many_threads);
  /// Any thread.
  void stand_aside() noexcept;
  /// No more sleeping, ringing or counting.
  void stop() noexcept { state_.store(state::absent, std::memory_order_relaxed); }
  state now_is() const noexcept { return state_.load(std::memory_order_relaxed); }

  /// A call into MPI begins; returns whether it must be ended by end_call(). `blocking`: it returns
  /// when something has happened.
  bool begin_call(bool blocking) noexcept;
  void end_call(bool blocking) noexcept;

  /// Whether the progress hook must tell what was found.
  bool is_watched() const noexcept { return now_is() != state::absent; }
  /// MPI has looked at everything that makes this call go on, and found nothing. May block.
  void found_nothing() noexcept;
  /// It has found something, and may have sent something.
  void found_something() noexcept;

  const counts& counted() const noexcept { return counts_; }
  const spin_time& spinning() const noexcept { return *spinning_; }

private:
  void begin_spin(nanoseconds at) noexcept;
  void ring() noexcept;

  std::atomic<state> state_{state::absent};
  std::unique_ptr<node> node_;
  unsigned me_ = 0;
  std::optional<waiter<platform>> waiter_;
  std::optional<spin_time> spinning_;
  const void* thread_ = nullptr;  // the only one that calls; null: MPI sees to it

  int calls_ = 0, blocking_calls_ = 0;  // nested
  bool owes_ring_ = false;              // may have sent something that nobody was rung for
  bool owes_last_ring_ = false;         // has found something since it last rang before a sleep
  bool spins_ = false;                  // from begin_ on, and until until_
  bool slept_ = false, late_ = false;   // in this call; and the last sleep ended late
  bool rung_for_nothing_ = false;       // rung, and has found nothing since
  nanoseconds begin_ = 0, until_ = 0;
  counts counts_;
};

}  // namespace cleave::cosched
