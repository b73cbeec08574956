#pragma once

#include "cosched/recent_calls.hpp"
#include "cosched/turn_board.hpp"

#include <cstdint>

/// Turns: jobs that have a rank for each of the same CPUs run one after the other, for some 100 ms
/// each, where they get on faster so. Each then finds its data in the caches and its ranks running,
/// and pays for no switches.
namespace cleave::cosched {

/// One rank's part in the turns of the jobs on its CPUs.
///
/// The invariant: a rank stops, at the end of a call into MPI, only while it is another job's turn
/// and that is not over. When it is over, whoever stops gives the turn to the one of those that
/// stop whose last turn is the longest ago. So nobody stops for ever, whichever process has died;
/// and a CPU is never left to a job that does not use it: whose rank sleeps for `patience` in its
/// own turn gives it up.
///
/// Turns go on only as long as they pay. A rank counts the calls that it makes in its own turn, and
/// compares them with those that it made right before, without turns, in the time that this turn
/// stands for: so many times as long as there are jobs. What was gained, in per cent, is added to a
/// score. Where that is too low, all run at once again; after a time, which grows fourfold, turns
/// are tried again. Where it is high, what it is like without turns is looked at again after a time
/// that grows likewise; and at once when a rank has not waited in MPI for long.
class turns {
public:
  /// The board must outlive this, and the place be the job's.
  /// `cpu`: where the rank goes in its turn; -1: where Linux puts it.
  turns(turn_board& shared, unsigned place, nanoseconds length, int cpu) noexcept
      : board_(&shared), place_(place), length_(length), cpu_(cpu) {}

  /// At the end of a call in which the rank has waited, or while it is another job's turn.
  /// `calls`: so many were made in all. May block; returns the time.
  nanoseconds after_wait(nanoseconds at, std::int64_t calls) noexcept;
  /// Whether the CPUs are this job's alone.
  bool is_mine() const noexcept { return whose() == place_; }
  bool is_others() const noexcept;
  /// The rank has slept in its own turn for `patience`, and what it waits for is not there.
  void give_up() noexcept;

  std::int64_t stops() const noexcept { return stops_; }
  nanoseconds stopped() const noexcept { return stopped_; }

  static constexpr nanoseconds usual_length = 100'000'000, short_length = 40'000'000;
  static constexpr nanoseconds patience = 2'000'000;
  /// Per cent: what may be lost before all run at once again; what must be gained for long turns;
  /// and what one turn of a rank counts at most.
  static constexpr std::int64_t credit = 40, enough = 40, most_counted = 25;
  /// A loss of so many per cent is none. Short turns pay more for cold caches than long ones; and
  /// right after turns, ranks are where they wait least for each other.
  static constexpr std::int64_t tolerated = 10;

private:
  struct turn {
    unsigned whose;
    nanoseconds until;
  };
  static std::uint64_t encoded(const turn& t) noexcept;
  static turn decoded(std::uint64_t word) noexcept;

  unsigned whose() const noexcept;
  void in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept;
  void end_turn(nanoseconds at, std::int64_t calls) noexcept;
  void all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept;
  nanoseconds stop(nanoseconds at) noexcept;
  void judge(std::int64_t gain, nanoseconds at) noexcept;
  bool look_without(nanoseconds at) noexcept;
  void compare_again(nanoseconds at) noexcept;
  bool change(std::uint64_t from, const turn& to) noexcept;
  /// To the one that has stopped longest, other than `but`. False if there is none, or somebody
  /// else was first.
  bool pass(std::uint64_t from, unsigned but, nanoseconds at) noexcept;
  struct present {
    unsigned jobs = 0;
    bool all_call_often = true;
  };
  present who_is_there(nanoseconds at) const noexcept;
  nanoseconds next_length() const noexcept;

  turn_board* board_;
  unsigned place_;
  nanoseconds length_;
  int cpu_;
  int came_from_ = -1;         // where the rank was before turns began; -1: they have not
  nanoseconds told_ = 0;       // when this rank was seen last
  nanoseconds last_ = 0;       // the end of its last wait
  recent_calls without_;       // turns
  bool turns_are_on_ = false;  // as this rank knows
  std::uint64_t mine_ = 0;     // the turn that this rank runs in; 0: none
  nanoseconds began_ = 0;      // that,
  std::int64_t calls_ = 0;     // after so many calls
  nanoseconds given_up_ = 0;   // that; 0: it was not
  nanoseconds had_ = 0;        // so long were those that are not judged yet,
  std::int64_t made_ = 0;      // and so many calls were made in them
  std::int64_t stops_ = 0;
  nanoseconds stopped_ = 0;
};

}  // namespace cleave::cosched
