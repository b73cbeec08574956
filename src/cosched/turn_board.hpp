#pragma once

#include "cosched/spin_time.hpp"

#include <atomic>
#include <cstdint>

namespace cleave::cosched {

/// What jobs of one user share that take turns on the same CPUs. All zero, it is nobody's turn.
/// Where each place is a job's, 0 is everybody's.
struct turn_board {
  static constexpr unsigned places = 64, everybody = 0;
  struct alignas(128) place {
    std::atomic<nanoseconds> seen{0};     // one of its ranks was at the end of a wait; 0: no job's
    std::atomic<nanoseconds> often{0};    // one of its ranks was found to call MPI often,
    std::atomic<nanoseconds> seldom{0};   // or seldom, and can be interrupted
    std::atomic<nanoseconds> paused{0};   // one of its ranks began to wait for a turn; 0: none does
    std::atomic<nanoseconds> ended{0};    // its last turn
    std::atomic<nanoseconds> deficit{0};  // so much less time than others it has had in turns
  };

  std::atomic<std::uint64_t> turn{0};    // whose, and until when: encoded()
  std::atomic<std::uint32_t> bell{0};    // rung after the turn has changed
  std::atomic<nanoseconds> given{0};     // when it has changed last
  std::atomic<nanoseconds> usual{0};     // how long it is without a deficit
  std::atomic<nanoseconds> began{0};     // when turns began,
  std::atomic<std::uint32_t> jobs{0};    // of so many jobs,
  std::atomic<bool> seldom{false};       // some of which call MPI seldom
  std::atomic<std::int64_t> score{0};    // what has been gained since: per cent of a turn
  std::atomic<nanoseconds> idle{0};      // a rank has left gaps in its turn
  std::atomic<std::uint32_t> failed{0};  // tries to take turns, one after the other
  std::atomic<std::uint32_t> passed{0};  // comparisons with how it is without turns
  std::atomic<std::uint32_t> closed{0};
  place of[places];

  struct turn_of {
    unsigned whose;
    nanoseconds until;
  };
  static std::uint64_t encoded(const turn_of& t) noexcept;
  static turn_of decoded(std::uint64_t word) noexcept;
  unsigned whose() const noexcept { return decoded(turn.load(std::memory_order_relaxed)).whose; }

  /// False if somebody else was first. Wakes those that wait for a turn.
  bool change(std::uint64_t from, const turn_of& to) noexcept;
  /// To the one whose last turn is the longest ago of those that stop, other than `but`. It is as
  /// long as `length` and the job's deficit, so from half to one and a half times that; `longest`
  /// are turns without a deficit. False if nobody stops, or somebody else was first.
  bool pass(std::uint64_t from, unsigned but, nanoseconds at, nanoseconds length,
            nanoseconds longest) noexcept;

  struct present {
    unsigned jobs = 0;
    bool all_known = true, some_call_often = false, some_call_seldom = false;
  };
  /// This job is, and others that were seen not long ago.
  present who_is_there(nanoseconds at, unsigned me) const noexcept;

  /// A job that called MPI often so long ago does not any more.
  static constexpr nanoseconds not_often_after = 100'000'000;
  /// No turn is longer: whose end is said to be later has been told by another clock.
  static constexpr nanoseconds longest_turn = 20'000'000'000;

private:
  bool take(std::uint64_t from, const turn_of& to) noexcept;
  void tell() noexcept;
};

}  // namespace cleave::cosched
