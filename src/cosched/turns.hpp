#pragma once

#include "cosched/spin_time.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

/// Turns: jobs that have a rank for each of the same CPUs run one after the other, for some 50 ms
/// each, where that leaves no CPU idle. Each then finds its data in the caches and its ranks
/// running, and pays for no switches.
namespace cleave::cosched {

/// What such jobs of one user share. All zero, it is nobody's turn. Where
/// each place is a job's, 0 is everybody's.
struct turn_board {
  static constexpr unsigned places = 64;
  struct alignas(128) place {
    std::atomic<nanoseconds> seen{0};    // one of its ranks was at the end of a wait; 0: no job's
    std::atomic<nanoseconds> paused{0};  // one of its ranks began to wait for a turn; 0: none does
    std::atomic<nanoseconds> ended{0};   // its last turn
  };

  std::atomic<std::uint64_t> turn{0};   // whose, and until when: turns.cpp
  std::atomic<std::uint32_t> bell{0};   // rung after the turn has changed
  std::atomic<nanoseconds> score{0};    // how well turns have been used
  std::atomic<std::uint32_t> tries{0};  // to take turns, that failed one after the other
  std::atomic<std::uint32_t> closed{0};
  place of[places];
};

/// One rank's part in the turns of the jobs on its CPUs.
///
/// The invariant: a rank stops, at the end of a call into MPI, only while it is another job's turn
/// and that is not over. When it is over, whoever stops gives the turn to the one of those that
/// stop whose last turn is the longest ago. So nobody stops for ever, whichever process has died;
/// and a CPU is never left to a job that does not use it: whose rank sleeps for `patience` in its
/// own turn gives it up.
///
/// Turns go on only as long as they are used. A rank that computed for less than `used_from` of its
/// turn, gave it up, or made hardly a call in it, lowers a score; where that is too low, all run at
/// once again, as without turns. After a time, which grows fourfold, turns are tried again. They
/// are short until they have proved good.
class turns {
public:
  /// The board must outlive this, and the place be the job's.
  /// `cpu`: where the rank goes in its turn; -1: where Linux puts it.
  turns(turn_board& shared, unsigned place, nanoseconds length, int cpu) noexcept
      : board_(&shared), place_(place), length_(length), cpu_(cpu) {}

  /// What the rank has done: calls, and the CPU time that it has spent on waiting.
  struct so_far {
    std::int64_t calls = 0;
    nanoseconds spun = 0;
  };
  /// At the end of a call in which the rank has waited, or while it is another job's turn. May
  /// block; returns the time.
  nanoseconds after_wait(nanoseconds at, const so_far& done) noexcept;
  /// Whether the CPUs are this job's alone.
  bool is_mine() const noexcept;
  bool is_others() const noexcept;
  /// The rank has slept in its own turn for `patience`, and what it waits for is not there.
  void give_up() noexcept;

  std::int64_t stops() const noexcept { return stops_; }
  nanoseconds stopped() const noexcept { return stopped_; }

  static constexpr nanoseconds usual_length = 50'000'000, short_length = 10'000'000;
  static constexpr nanoseconds patience = 2'000'000;
  static constexpr nanoseconds used_from = 90;  // per cent of a turn

private:
  struct turn {
    unsigned whose;
    nanoseconds until;
  };
  static std::uint64_t encoded(const turn& t) noexcept;
  static turn decoded(std::uint64_t word) noexcept;

  void measure(std::uint64_t word, nanoseconds at, const so_far& done) noexcept;
  void end(nanoseconds at, const so_far& done) noexcept;
  nanoseconds stop(nanoseconds at) noexcept;
  void judge(nanoseconds gain, nanoseconds at) noexcept;
  bool change(std::uint64_t from, const turn& to) noexcept;
  /// To the one that has stopped longest, other than `but`. False if there is none, or somebody
  /// else was first.
  bool pass(std::uint64_t from, unsigned but, nanoseconds at) noexcept;
  bool is_alone(nanoseconds at) const noexcept;
  nanoseconds next_length() const noexcept;

  turn_board* board_;
  unsigned place_;
  nanoseconds length_;
  int cpu_;
  int came_from_ = -1;      // where the rank was before turns began; -1: they have not
  nanoseconds told_ = 0;    // when this rank was seen last
  std::uint64_t mine_ = 0;  // the turn that this rank runs in; 0: none
  nanoseconds began_ = 0;   // that,
  std::int64_t calls_ = 0;  // after so many calls
  nanoseconds since_ = 0;   // it is measured; 0: not yet
  nanoseconds used_ = 0;    // then: the CPU time before that, without what was spun
  std::int64_t stops_ = 0;
  nanoseconds stopped_ = 0;
};

/// A job's place on a board in memory that the jobs of a user share, under a name that says which
/// CPUs they have.
class turn_place {
public:
  /// Takes a place; null if there is none. The first rank of a job.
  static std::unique_ptr<turn_place> take(const std::string& name);
  /// Opens the place that the first one has taken; null if it cannot be had.
  static std::unique_ptr<turn_place> open(const std::string& name, unsigned place);
  /// Who has taken it gives it back. Whoever leaves last leaves no name behind.
  ~turn_place();
  turn_place(const turn_place&) = delete;
  turn_place& operator=(const turn_place&) = delete;

  turn_board& board() const noexcept { return *board_; }
  unsigned number() const noexcept { return number_; }

private:
  turn_place(std::string name, turn_board* at, int file) noexcept;

  std::string name_;
  turn_board* board_;
  int file_;
  unsigned number_ = 0;
  bool taken_ = false;
};

}  // namespace cleave::cosched
