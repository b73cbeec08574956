#pragma once

#include "cosched/allowance.hpp"
#include "cosched/clock.hpp"
#include "cosched/demand.hpp"
#include "cosched/network.hpp"
#include "cosched/node.hpp"
#include "cosched/report.hpp"
#include "cosched/spin_time.hpp"
#include "cosched/turn_place.hpp"
#include "cosched/turn_watch.hpp"
#include "cosched/turns.hpp"

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
  /// What is known of a call. As it is, nothing is.
  struct call {
    /// Whoever waits may wait for something that this call does. Otherwise: for `to`, and for those
    /// that wait for more than messages.
    bool for_all = true;
    int to = nobody;  // the rank, in the world, that it sends to
    waits_for what = waits_for::anything;
    bool of_file = false;  // it may wait for the kernel's work on a file, which rings nobody
  };
  static constexpr int nobody = -1;

  enum class state : unsigned { absent, active, aside };

  /// `others`: null if all ranks are on this node. `free_spin`: for how long to spin on a CPU that
  /// nobody else wants, as long as `free_time` lasts.
  void start(std::unique_ptr<node> shared, std::unique_ptr<network> others, unsigned me,
             unsigned tests, spin_time spinning, nanoseconds free_spin, allowance free_time,
             bool many_threads);
  /// Before start(): takes turns with other jobs, of this length, on that CPU.
  /// `watch`: it calls interrupted(); null if there can be none. `ranks`: so many have all jobs.
  void take_turns(std::unique_ptr<turn_place> at, nanoseconds length, int cpu,
                  std::unique_ptr<turn_watch> watch, unsigned ranks) noexcept;
  /// By the watch: what the thread is doing is over for a while if it is another job's turn.
  void interrupted() noexcept;
  /// Any thread.
  void stand_aside() noexcept;
  /// All work is done. The job's last rank leaves the rest of its turn to others.
  void leave_turns() noexcept;
  /// No more sleeping, ringing or counting.
  void stop() noexcept;
  state now_is() const noexcept { return state_.load(std::memory_order_relaxed); }

  /// A call into MPI begins; returns whether it must be ended by end_call(). `blocking`: it returns
  /// when something has happened. `frame`: where on the stack; a nested one is below the others.
  bool begin_call(bool blocking, const void* frame = nullptr) noexcept;
  /// After begin_call, of the outermost call only.
  void describe(const call& c) noexcept { call_ = c, in_file_ = c.of_file; }
  /// Whether the call that has begun is the outermost one, and its rank sleeps.
  bool is_outermost() const noexcept { return now_is() == state::active && calls_ == 1; }
  void end_call(bool blocking) noexcept;

  /// The calls are this thread's from now on.
  void called_here() noexcept;
  /// Whether they are. Any thread.
  bool is_called_here() const noexcept;

  /// Whether the progress hook must tell what was found.
  bool is_watched() const noexcept { return now_is() != state::absent; }
  /// MPI is about to look at everything, which can take long: a look may copy a long message. Rings
  /// for what was done before.
  void about_to_look() noexcept {
    if (owes_ring_ && blocking_calls_ != 0 && now_is() == state::active) ring();
  }
  /// MPI has looked at everything that makes this call go on, and found nothing. May block.
  void found_nothing() noexcept;
  /// It has found something, and may have sent something.
  void found_something() noexcept;

  counts counted() const noexcept;
  const spin_time& spinning() const noexcept { return *spinning_; }

private:
  void begin_spin(nanoseconds at) noexcept;
  void end_spin(nanoseconds at, nanoseconds saved) noexcept;
  bool is_cpu_wanted(nanoseconds at) noexcept;
  std::int64_t times_lost() const noexcept;
  bool spun_enough(nanoseconds at) noexcept;
  void yield() noexcept;
  void was_left() noexcept;
  void ring() noexcept;
  void wake(unsigned i, const std::atomic<std::uint32_t>& word) const noexcept;

  std::atomic<state> state_{state::absent};
  std::unique_ptr<node> node_;
  std::unique_ptr<network> network_;
  unsigned me_ = 0;
  std::optional<waiter<platform>> waiter_;
  std::optional<spin_time> spinning_;
  std::unique_ptr<turn_place> place_;  // null: no turns
  std::optional<turns> turns_;
  std::unique_ptr<turn_watch> watch_;         // null: there can be none
  bool share_cpus_ = false;                   // it and others of its job: there are too few
  bool many_threads_ = false;                 // may call at once
  std::atomic<const void*> caller_{nullptr};  // the thread that called last; only it looks

  int calls_ = 0, blocking_calls_ = 0;  // nested
  const void* outermost_ = nullptr;     // where on the stack
  bool in_file_ = false;                // what the outermost one waits for: it does not sleep
  call call_;                           // the outermost one
  bool owes_ring_ = false;              // may have sent something that nobody was rung for
  bool owes_last_ring_ = false;         // has found something since it last rang before a sleep
  bool spins_ = false;                  // from begin_ on, and until until_
  bool slept_ = false, late_ = false;   // in this call; and the last sleep ended late
  bool waited_ = false;                 // in this call, and found something
  bool rung_for_nothing_ = false;       // rung, and has found nothing since
  nanoseconds begin_ = 0, until_ = 0;
  demand others_want_;
  nanoseconds free_spin_ = 0;
  allowance free_time_;              // for that
  nanoseconds found_at_ = 0;         // the end of the last wait, and stops
  bool in_vain_ = false;             // this spin: no rank does anything meanwhile
  unsigned yielding_waits_ = 0;      // there have been so many
  unsigned yields_left_ = 0;         // so often it will leave the CPU to them
  std::int64_t lost_by_yields_ = 0;  // involuntary switches, as Linux counts them
  nanoseconds yielded_ = 0;          // so long it has left the CPU to them instead
  bool longer_ = false;              // this spin has been made longer
  nanoseconds longer_from_ = 0;      // then: since when,
  nanoseconds looked_ = 0;           // the last look
  std::int64_t switches_ = 0;        // and this thread's involuntary switches before it
  counts counts_;
};

}  // namespace cleave::cosched
