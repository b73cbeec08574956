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
  /// calls interrupted() when the rank is late, if wants_interrupts(). `ranks`: how many the job
  /// has, and each of the others, too.
  turns(turn_board& shared, unsigned place, nanoseconds length, int cpu, bool can_interrupt = false,
        unsigned ranks = 2) noexcept
      : share_{&shared, place, length, cpu, can_interrupt, std::max(2u, ranks)} {}

  /// Called at the end of a call in which the rank has waited, or while it is another job's turn,
  /// or if wants_all_calls(). `calls`: how many were made in all; `spun`: how long the rank has
  /// spun in them. May block; returns the time.
  nanoseconds after_wait(nanoseconds at, std::int64_t calls, nanoseconds spun = 0) noexcept;
  /// Whether all calls must be told: those that wait may be too few to show how often the rank
  /// calls.
  bool wants_all_calls() const noexcept { return share_.can_interrupt && !calling_.often; }
  /// Whether the CPUs are this job's alone.
  bool is_mine() const noexcept { return share_.board->whose() == share_.place; }
  bool is_others() const noexcept;
  /// The rank has slept in its own turn for `patience`, and what it waits for is not there. False:
  /// it is too early for that, and it shall sleep again.
  bool give_up() noexcept;
  /// The job has ended: the rest of its turn is for others.
  void leave() noexcept;

  /// The rank takes no more part: it is not interrupted, and does not say that its job is there.
  /// Any thread may call this.
  void stand_aside() noexcept { aside_.store(true, std::memory_order_relaxed); }

  /// Whether the rank calls MPI seldom, and others would wait long for it to stop.
  bool wants_interrupts() const noexcept { return calling_.wants_interrupts; }
  /// Called by the rank's thread wherever it is, in the functions above, too. May block.
  void interrupted(std::int64_t calls) noexcept;
  /// Whether the rank should have stopped. Any thread may ask.
  bool is_late() const noexcept {
    return calls_seldom() && is_others() && !stops_now_.load(std::memory_order_relaxed);
  }
  /// Tells that the job is there, if this rank calls seldom. Any thread may call it.
  void tell_seldom(nanoseconds at) noexcept;

  std::int64_t stops() const noexcept { return ever_.stops; }
  nanoseconds stopped() const noexcept { return ever_.stopped; }

  static constexpr nanoseconds usual_length = 100'000'000, short_length = 40'000'000;
  /// About what the change to another job costs, in caches and switches. It is longer than a thread
  /// of the kernel takes a rank's CPU for, and than interrupted ranks stop apart.
  static constexpr nanoseconds patience = 5'000'000;
  /// When a turn has lasted for this long, all others have been interrupted, and have left the
  /// CPUs.
  static constexpr nanoseconds all_interrupted = 6'000'000;
  /// Per cent, in jobs of two ranks: what may be lost before all run at once again; what must be
  /// gained for long turns; and what one turn of a rank counts at most. With more ranks each counts
  /// for less: the first two limits grow with their number.
  static constexpr std::int64_t credit = 40, enough = 40, most_counted = 25;
  /// A loss of so many per cent counts as none. Short turns pay more for cold caches than long
  /// ones; and right after turns, ranks are where they wait least for each other.
  static constexpr std::int64_t tolerated = 10;
  /// Per cent of its turns that a rank may sleep until it gives them up, if it calls seldom.
  static constexpr std::int64_t most_slept = 25;
  /// Per cent of its turns that a rank must compute to leave no gaps that others could fill.
  static constexpr std::int64_t enough_computed = 80;
  /// After this many turns with gaps, one after the other, a rank has it looked at whether turns
  /// still pay. One turn can have gaps by chance.
  static constexpr unsigned turns_with_gaps = 2;

private:
  class uninterrupted;

  /// A score for jobs of two ranks, made one for as many ranks as these jobs have.
  std::int64_t by_all(std::int64_t by_two) const noexcept { return by_two * share_.ranks / 2; }
  nanoseconds next_length() const noexcept;
  void judge(std::int64_t gain, nanoseconds at) noexcept;
  void judge_use(nanoseconds had, nanoseconds at) noexcept;
  void end_all_turns(nanoseconds at) noexcept;
  bool look_without(nanoseconds at) noexcept;
  void compare_again(nanoseconds at) noexcept;

  bool calls_seldom() const noexcept {
    return calling_.seldom.load(std::memory_order_relaxed) &&
           !aside_.load(std::memory_order_relaxed);
  }
  bool others_want_turns(nanoseconds at) const noexcept;
  void tell(nanoseconds at) noexcept;
  void in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept;
  void end_turn(nanoseconds at, std::int64_t calls) noexcept;
  void all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept;
  nanoseconds stop(nanoseconds at, std::int64_t calls) noexcept;

  /// What the rank shares with others.
  struct share {
    turn_board* board;
    unsigned place;
    nanoseconds length;
    int cpu;
    bool can_interrupt;
    std::int64_t ranks;
  };
  /// How often the rank calls MPI.
  struct calling {
    nanoseconds often_at = 0;  ///< when it was found to call often last, or first seen
    bool often = false;
    std::atomic<bool> seldom{false};
    bool wants_interrupts = false;
  };
  /// The turn that this rank runs in.
  struct my_turn {
    bool on = false;           ///< there are turns, as this rank knows
    std::uint64_t number = 0;  ///< 0: none
    nanoseconds began = 0;
    std::int64_t calls_before = 0;
    nanoseconds given_up = 0;  ///< when the turn was given up; 0: it was not
    nanoseconds computed_before = 0;
  };
  /// The rank's turns that are not judged yet.
  struct unjudged {
    nanoseconds had = 0;     ///< how long these turns were
    unsigned gaps = 0;       ///< how many turns in a row had gaps
    std::int64_t calls = 0;  ///< the calls made in these turns
    nanoseconds slept = 0;   ///< how long the rank slept until it gave them up
    nanoseconds computed = 0;
  };
  struct totals {
    std::int64_t stops = 0;
    nanoseconds stopped = 0;
    nanoseconds spun = 0;
  };

  share share_;
  volatile std::sig_atomic_t busy_ = 0;  // while this is not 0, an interrupt does nothing
  int came_from_ = -1;                   // where the rank was before turns began; -1: they have not
  nanoseconds told_ = 0;                 // when this rank was seen last
  nanoseconds last_ = 0;                 // the end of its last wait
  recent_calls without_;                 // how often the rank calls without turns
  calling calling_;
  std::atomic<bool> aside_{false};
  std::atomic<bool> stops_now_{false};
  my_turn turn_;
  unjudged unjudged_;
  totals ever_;
};

}  // namespace cleave::cosched
