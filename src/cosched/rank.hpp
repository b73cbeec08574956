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

/// This process, as MPI's callers see it: which call it is in, and how it waits there.
/// interpose.cpp tells it where calls begin and end, and the progress hook whether MPI, looking
/// once at everything, found anything.
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
  /// What is known of a call. The defaults say that nothing is known.
  struct call {
    /// Whoever waits may wait for something that this call does. If false, this call does something
    /// only for `to`, and for those that wait for more than messages.
    bool for_all = true;
    int to = nobody;  // the rank, in the world, that it sends to
    waits_for what = waits_for::anything;
    bool of_file = false;  // the call may wait for the kernel's work on a file, which rings nobody
  };
  static constexpr int nobody = -1;

  enum class state : unsigned { absent, active, aside };

  /// How the rank waits.
  struct waits {
    unsigned tests = 0;  ///< looks that it takes to see everything once
    spin_time spinning;
    nanoseconds free_spin = 0;  ///< for how long to spin on a CPU that nobody else wants
    allowance free_time;        ///< the CPU time that may be spent so
    bool many_threads = false;  ///< several threads may call MPI at once
  };
  /// `others`: null if all ranks are on this node.
  void start(std::unique_ptr<node> shared, std::unique_ptr<network> others, unsigned me,
             const waits& how);
  /// Called before start(): the rank takes turns with other jobs, of this length, on that CPU.
  /// `watch`: calls interrupted(); null if there can be none. `ranks`: how many ranks each of the
  /// jobs has.
  void take_turns(std::unique_ptr<turn_place> at, nanoseconds length, int cpu,
                  std::unique_ptr<turn_watch> watch, unsigned ranks) noexcept;
  /// The watch makes the rank's thread call this, wherever that is: the thread stops while it is
  /// another job's turn.
  void interrupted() noexcept;
  /// The rank sleeps no more, and still rings the others. Any thread may call this.
  void stand_aside() noexcept;
  /// Called when all work is done: the job's last rank leaves the rest of its turn to others.
  void leave_turns() noexcept;
  /// The rank neither sleeps nor rings nor counts any more.
  void stop() noexcept;
  state now_is() const noexcept { return state_.load(std::memory_order_relaxed); }

  /// A call into MPI begins; returns whether it must be ended by end_call(). `blocking`: it returns
  /// when something has happened. `frame`: where on the stack; a nested one is below the others.
  bool begin_call(bool blocking, const void* frame = nullptr) noexcept;
  /// Says what is known of the call. Called after begin_call(), for the outermost call only.
  void describe(const call& c) noexcept { call_.what = c, call_.in_file = c.of_file; }
  /// Whether the call that has begun is the outermost one, and its rank sleeps.
  bool is_outermost() const noexcept { return now_is() == state::active && call_.depth == 1; }
  void end_call(bool blocking) noexcept;

  /// The calls are this thread's from now on.
  void called_here() noexcept;
  /// Whether the calls are this thread's. Any thread may ask.
  bool is_called_here() const noexcept;

  /// Whether the progress hook must tell what was found.
  bool is_watched() const noexcept { return now_is() != state::absent; }
  /// MPI is about to look at everything, which can take long: a look may copy a long message. Rings
  /// for what was done before.
  void about_to_look() noexcept {
    if (owes_.ring && call_.blocking != 0 && now_is() == state::active) ring();
  }
  /// MPI has looked at everything that makes this call go on, and found nothing. May block.
  void found_nothing() noexcept;
  /// MPI has found something, and may have sent something.
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

  /// The ranks that this one has to do with.
  struct job {
    std::unique_ptr<node> shared;
    std::unique_ptr<network> others;  ///< null: all ranks are on this node
    unsigned me = 0;
    bool share_cpus = false;    ///< the job's ranks on this node share CPUs: there are too few
    bool many_threads = false;  ///< several threads may call MPI at once
  };
  struct taking_turns {
    std::unique_ptr<turn_place> place;  ///< null: there are no turns
    std::optional<turns> of;
    std::unique_ptr<turn_watch> watch;  ///< null: there can be no watch
  };
  /// The calls that this rank is in.
  struct nested_calls {
    int depth = 0, blocking = 0;
    const void* outermost = nullptr;  ///< where on the stack
    bool in_file = false;             ///< the outermost call may wait for a file: it does not sleep
    call what;                        ///< what is known of the outermost call
  };
  /// What others may wait for.
  struct owed_rings {
    bool ring = false;       ///< the rank may have sent something that nobody was rung for
    bool last_ring = false;  ///< the rank has found something since it last rang before a sleep
  };
  /// The wait of this call, and the last one.
  struct wait {
    bool slept = false, late = false;  ///< the wait has had a sleep; its last sleep ended late
    bool found = false;                ///< the call has had a wait that found something
    bool rung_for_nothing = false;     ///< the rank was rung, and has found nothing since
    nanoseconds found_at = 0;          ///< when the last wait ended; stops since then are added
  };
  /// The spin that is on.
  struct spin {
    bool on = false;  ///< the rank spins, from `begin` until `until`
    nanoseconds begin = 0, until = 0;
    bool in_vain = false;         ///< no other rank does anything meanwhile
    unsigned yields_left = 0;     ///< how often the rank will still leave its CPU to others
    nanoseconds yielded = 0;      ///< how long the rank has left its CPU to others
    bool longer = false;          ///< the spin has been made longer
    nanoseconds longer_from = 0;  ///< when the spin was made longer
    nanoseconds looked = 0;       ///< when the rank last looked, in a longer spin
    std::int64_t switches = 0;    ///< this thread's involuntary switches before the longer spin
  };
  /// How the rank may spin on a CPU that nobody else wants.
  struct free_spinning {
    nanoseconds longest = 0;
    allowance left;
  };
  struct yielding {
    unsigned waits = 0;     ///< the waits in which the rank could yield
    std::int64_t lost = 0;  ///< the yields that Linux counts as involuntary switches
  };

  std::atomic<state> state_{state::absent};
  job job_;
  std::optional<waiter<platform>> waiter_;
  std::optional<spin_time> spinning_;
  taking_turns turns_;
  std::atomic<const void*> caller_{nullptr};  // the thread that called last; only it looks
  nested_calls call_;
  owed_rings owes_;
  wait wait_;
  spin spin_;
  free_spinning free_spin_;
  yielding yields_;
  demand others_want_;
  counts counts_;
};

}  // namespace cleave::cosched
