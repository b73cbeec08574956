#pragma once

#include "cosched/recent_calls.hpp"
#include "cosched/turn_board.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>

/// Turns: jobs that have a rank for each of the same CPUs run one after the other, for some 100 ms
/// each, where they get on faster so. Each then finds its data in the caches and its ranks running,
/// and pays for no switches.
namespace cleave::cosched {

/// One rank's part in the turns of the jobs on its CPUs.
///
/// The invariant: a rank stops, at the end of a call into MPI or where it is interrupted, only
/// while it is another job's turn and that is not over. When it is over, whoever stops gives the
/// turn to the one of those that stop whose last turn is the longest ago. So nobody stops for ever,
/// whichever process has died; and a CPU is never left to a job that does not use it: whose rank
/// sleeps for `patience` in its own turn gives it up.
///
/// Turns go on only as long as they pay. A rank counts the calls that it makes in its own turn, and
/// compares them with those that it made right before, without turns, in the time that this turn
/// stands for: so many times as long as there are jobs. What was gained, in per cent, is added to a
/// score. Where that is too low, all run at once again; after a time, which grows fourfold, turns
/// are tried again. Where it is high and a rank has left gaps, what it is like without turns is
/// looked at again, after a time that grows likewise; and at once when a rank has not waited in MPI
/// for long.
///
/// A rank that calls MPI seldom has too few calls to compare, and would stop late. It is
/// interrupted, and says only whether it sleeps in its turns. If it does, they end.
class turns {
public:
  /// The board must outlive this, and the place be the job's.
  /// `cpu`: where the rank goes in its turn; -1: where Linux puts it. `can_interrupt`: somebody
  /// calls interrupted() when the rank is late, if wants_interrupts(). `ranks`: the job's, and so
  /// many has each of the others.
  turns(turn_board& shared, unsigned place, nanoseconds length, int cpu, bool can_interrupt = false,
        unsigned ranks = 2) noexcept
      : board_(&shared),
        place_(place),
        length_(length),
        cpu_(cpu),
        can_interrupt_(can_interrupt),
        ranks_(std::max(2u, ranks)) {}

  /// At the end of a call in which the rank has waited, or while it is another job's turn, or
  /// wants_all_calls(). `calls`: so many were made in all, and it has `spun` so long in them. May
  /// block; returns the time.
  nanoseconds after_wait(nanoseconds at, std::int64_t calls, nanoseconds spun = 0) noexcept;
  /// Calls that wait may be too few to tell how often it calls.
  bool wants_all_calls() const noexcept { return can_interrupt_ && !calls_often_; }
  /// Whether the CPUs are this job's alone.
  bool is_mine() const noexcept { return board_->whose() == place_; }
  bool is_others() const noexcept;
  /// The rank has slept in its own turn for `patience`, and what it waits for is not there. False:
  /// it is too early for that, and it shall sleep again.
  bool give_up() noexcept;
  /// The job has ended: the rest of its turn is for others.
  void leave() noexcept;

  /// The rank takes no more part: it is not interrupted, and does not say that its job is there.
  /// Any thread.
  void stand_aside() noexcept { aside_.store(true, std::memory_order_relaxed); }

  /// It calls MPI seldom, and others would wait long for it to stop.
  bool wants_interrupts() const noexcept { return wants_interrupts_; }
  /// By the rank's thread, anywhere: in the functions above, too. May block.
  void interrupted(std::int64_t calls) noexcept;
  /// It should have stopped. Any thread.
  bool is_late() const noexcept {
    return calls_seldom() && is_others() && !stops_now_.load(std::memory_order_relaxed);
  }
  /// That it is there, if it calls seldom. Any thread.
  void tell_seldom(nanoseconds at) noexcept;

  std::int64_t stops() const noexcept { return stops_; }
  nanoseconds stopped() const noexcept { return stopped_; }

  static constexpr nanoseconds usual_length = 100'000'000, short_length = 40'000'000;
  /// About what the change to another job costs, in caches and switches. It is longer than a thread
  /// of the kernel takes a rank's CPU for, and than interrupted ranks stop apart.
  static constexpr nanoseconds patience = 5'000'000;
  /// So long after a turn has begun all have been interrupted, and left the CPUs.
  static constexpr nanoseconds all_interrupted = 6'000'000;
  /// Per cent, in jobs of two ranks: what may be lost before all run at once again; what must be
  /// gained for long turns; and what one turn of a rank counts at most. Of more ranks each counts
  /// for less: the first two are as many times as much.
  static constexpr std::int64_t credit = 40, enough = 40, most_counted = 25;
  /// A loss of so many per cent is none. Short turns pay more for cold caches than long ones; and
  /// right after turns, ranks are where they wait least for each other.
  static constexpr std::int64_t tolerated = 10;
  /// Per cent of its turns that a rank may sleep until it gives them up, if it calls seldom.
  static constexpr std::int64_t most_slept = 25;
  /// Per cent of its turns that a rank must compute to leave no gaps that others could fill.
  static constexpr std::int64_t enough_computed = 80;
  /// It has left gaps in so many turns, one after the other, where it is looked whether turns still
  /// pay. One turn can have them by chance.
  static constexpr unsigned turns_with_gaps = 2;

private:
  class uninterrupted;

  /// Of a score, by so many ranks as there are.
  std::int64_t by_all(std::int64_t by_two) const noexcept { return by_two * ranks_ / 2; }
  nanoseconds next_length() const noexcept;
  void judge(std::int64_t gain, nanoseconds at) noexcept;
  void judge_use(nanoseconds had, nanoseconds at) noexcept;
  void end_all_turns(nanoseconds at) noexcept;
  bool look_without(nanoseconds at) noexcept;
  void compare_again(nanoseconds at) noexcept;

  bool calls_seldom() const noexcept {
    return seldom_.load(std::memory_order_relaxed) && !aside_.load(std::memory_order_relaxed);
  }
  bool others_want_turns(nanoseconds at) const noexcept;
  void tell(nanoseconds at) noexcept;
  void in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept;
  void end_turn(nanoseconds at, std::int64_t calls) noexcept;
  void all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept;
  nanoseconds stop(nanoseconds at, std::int64_t calls) noexcept;

  turn_board* board_;
  unsigned place_;
  nanoseconds length_;
  int cpu_;
  bool can_interrupt_;
  std::int64_t ranks_;
  volatile std::sig_atomic_t busy_ = 0;  // an interrupt does nothing
  int came_from_ = -1;                   // where the rank was before turns began; -1: they have not
  nanoseconds told_ = 0;                 // when this rank was seen last
  nanoseconds last_ = 0;                 // the end of its last wait
  recent_calls without_;                 // turns
  nanoseconds often_ = 0;                // when it was found to call often last, or first seen
  bool calls_often_ = false;
  std::atomic<bool> seldom_{false}, aside_{false};
  bool wants_interrupts_ = false;
  std::atomic<bool> stops_now_{false};
  bool turns_are_on_ = false;        // as this rank knows
  std::uint64_t mine_ = 0;           // the turn that this rank runs in; 0: none
  nanoseconds began_ = 0;            // that,
  std::int64_t calls_ = 0;           // after so many calls
  nanoseconds given_up_ = 0;         // that; 0: it was not
  nanoseconds had_ = 0;              // so long were those that are not judged yet,
  unsigned gaps_ = 0;                // turns, one after the other, that had them
  std::int64_t made_ = 0;            // so many calls were made in them,
  nanoseconds slept_ = 0;            // and so long slept until they were given up
  nanoseconds spun_ = 0;             // ever
  nanoseconds computed_before_ = 0;  // this turn,
  nanoseconds computed_ = 0;         // and in them
  std::int64_t stops_ = 0;
  nanoseconds stopped_ = 0;
};

}  // namespace cleave::cosched
