#pragma once

#include "cosched/spin_time.hpp"

#include <atomic>
#include <cstdint>

namespace cleave::cosched {

/// What jobs of one user share that take turns on the same CPUs. While all is zero, it is nobody's
/// turn. Each place is a job's; place 0 stands for everybody.
struct turn_board {
  static constexpr unsigned places = 64, everybody = 0;
  struct alignas(128) place {
    std::atomic<nanoseconds> seen{0};  // when one of its ranks last ended a wait; 0: no job's place
    std::atomic<nanoseconds> often{0};  // when one of its ranks was last found to call MPI often
    // When one was found to call seldom that can be interrupted.
    std::atomic<nanoseconds> seldom{0};
    // When one of its ranks last waited for a turn; 0: none does.
    std::atomic<nanoseconds> paused{0};
    std::atomic<nanoseconds> ended{0};    // when its last turn ended
    std::atomic<nanoseconds> deficit{0};  // how much less time than others it has had in turns
  };

  std::atomic<std::uint64_t> turn{0};  // whose, and until when: encoded()
  std::atomic<std::uint32_t> bell{0};  // rung after the turn has changed
  std::atomic<nanoseconds> given{0};   // when the turn has changed last
  std::atomic<nanoseconds> usual{0};   // how long the turn is without a deficit
  std::atomic<nanoseconds> began{0};   // when turns began
  std::atomic<std::uint32_t> jobs{0};  // the number of jobs that take turns
  std::atomic<bool> seldom{false};     // some of these jobs call MPI seldom
  // What turns have gained since they began: per cent of a turn.
  std::atomic<std::int64_t> score{0};
  std::atomic<nanoseconds> idle{0};      // when a rank has last left gaps in its turn
  std::atomic<std::uint32_t> failed{0};  // tries to take turns in a row that did not pay
  std::atomic<std::uint32_t> passed{0};  // comparisons with how jobs get on without turns
  std::atomic<std::uint32_t> closed{0};
  place of[places];

  struct turn_of {
    unsigned whose;
    nanoseconds until;
  };
  static std::uint64_t encoded(const turn_of& t) noexcept;
  static turn_of decoded(std::uint64_t word) noexcept;
  unsigned whose() const noexcept { return decoded(turn.load(std::memory_order_relaxed)).whose; }

  /// Changes the turn, and wakes those that wait for one. False if somebody else was first.
  bool change(std::uint64_t from, const turn_of& to) noexcept;
  /// Gives the turn to the job whose last turn is the longest ago of those that stop, other than
  /// `but`. The new turn is as long as `length` and the job's deficit, so from half to one and a
  /// half times that; no turn without a deficit is longer than `longest`. False if nobody stops, or
  /// somebody else was first.
  bool pass(std::uint64_t from, unsigned but, nanoseconds at, nanoseconds length,
            nanoseconds longest) noexcept;

  struct present {
    unsigned jobs = 0;
    bool all_known = true, some_call_often = false, some_call_seldom = false;
  };
  /// Which jobs are there: this one, and others that were seen not long ago.
  present who_is_there(nanoseconds at, unsigned me) const noexcept;

  /// A job that was last found to call MPI often longer ago than this does not any more.
  static constexpr nanoseconds not_often_after = 100'000'000;
  /// No turn is longer than this: an end that is said to be later has been told by another clock.
  static constexpr nanoseconds longest_turn = 20'000'000'000;

private:
  bool take(std::uint64_t from, const turn_of& to) noexcept;
  void tell() noexcept;
};

}  // namespace cleave::cosched
