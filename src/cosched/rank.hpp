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

  /// How it waits.
  struct waits {
    unsigned tests = 0;  ///< looks that it takes to see everything once
    spin_time spinning;
    nanoseconds free_spin = 0;  ///< for how long to spin on a CPU that nobody else wants,
    allowance free_time;        ///< as long as that lasts
    bool many_threads = false;  ///< may call at once
  };
  /// `others`: null if all ranks are on this node.
  void start(std::unique_ptr<node> shared, std::unique_ptr<network> others, unsigned me,
             const waits& how);
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
  void describe(const call& c) noexcept { call_.what = c, call_.in_file = c.of_file; }
  /// Whether the call that has begun is the outermost one, and its rank sleeps.
  bool is_outermost() const noexcept { return now_is() == state::active && call_.depth == 1; }
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
    if (owes_.ring && call_.blocking != 0 && now_is() == state::active) ring();
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

  /// The ranks that it has to do with.
  struct job {
    std::unique_ptr<node> shared;
    std::unique_ptr<network> others;  ///< null: all ranks are on this node
    unsigned me = 0;
    bool share_cpus = false;    ///< it and others of its job: there are too few
    bool many_threads = false;  ///< may call at once
  };
  struct taking_turns {
    std::unique_ptr<turn_place> place;  ///< null: there are none
    std::optional<turns> of;
    std::unique_ptr<turn_watch> watch;  ///< null: there can be none
  };
  /// The calls that this rank is in.
  struct nested_calls {
    int depth = 0, blocking = 0;
    const void* outermost = nullptr;  ///< where on the stack
    bool in_file = false;             ///< what the outermost one waits for: it does not sleep
    call what;                        ///< the outermost one
  };
  /// What others may wait for.
  struct owed_rings {
    bool ring = false;       ///< may have sent something that nobody was rung for
    bool last_ring = false;  ///< has found something since it last rang before a sleep
  };
  /// The wait of this call, and the last one.
  struct wait {
    bool slept = false, late = false;  ///< in this call; and the last sleep ended late
    bool found = false;                ///< in this call, and found something
    bool rung_for_nothing = false;     ///< rung, and has found nothing since
    nanoseconds found_at = 0;          ///< the end of the last wait, and stops
  };
  /// The spin that is on.
  struct spin {
    bool on = false;  ///< from `begin` on, and until `until`
    nanoseconds begin = 0, until = 0;
    bool in_vain = false;         ///< no rank does anything meanwhile
    unsigned yields_left = 0;     ///< so often it will leave the CPU to them
    nanoseconds yielded = 0;      ///< so long it has left the CPU to them instead
    bool longer = false;          ///< it has been made longer
    nanoseconds longer_from = 0;  ///< then: since when
    nanoseconds looked = 0;       ///< the last look
    std::int64_t switches = 0;    ///< and this thread's involuntary switches before it
  };
  /// On a CPU that nobody else wants.
  struct free_spinning {
    nanoseconds longest = 0;
    allowance left;
  };
  struct yielding {
    unsigned waits = 0;     ///< there have been so many
    std::int64_t lost = 0;  ///< involuntary switches, as Linux counts them
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
