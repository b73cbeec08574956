#pragma once

#include "cosched/spin_time.hpp"
#include "machine/shared_memory.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace cleave::cosched {

/// What jobs of one user share that take turns on the same CPUs. All zero, it is nobody's turn.
/// Where each place is a job's, 0 is everybody's.
struct turn_board {
  static constexpr unsigned places = 64, everybody = 0;
  struct alignas(128) place {
    std::atomic<nanoseconds> seen{0};    // one of its ranks was at the end of a wait; 0: no job's
    std::atomic<nanoseconds> often{0};   // one of its ranks was found to call MPI often
    std::atomic<nanoseconds> paused{0};  // one of its ranks began to wait for a turn; 0: none does
    std::atomic<nanoseconds> ended{0};   // its last turn
  };

  std::atomic<std::uint64_t> turn{0};    // whose, and until when: turns.cpp
  std::atomic<std::uint32_t> bell{0};    // rung after the turn has changed
  std::atomic<nanoseconds> began{0};     // when turns began,
  std::atomic<std::uint32_t> jobs{0};    // of so many jobs
  std::atomic<std::int64_t> score{0};    // what has been gained since: per cent of a turn
  std::atomic<std::uint32_t> failed{0};  // tries to take turns, one after the other
  std::atomic<std::uint32_t> passed{0};  // comparisons with how it is without turns
  std::atomic<std::uint32_t> closed{0};
  place of[places];
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

  turn_board& board() const noexcept { return *reinterpret_cast<turn_board*>(memory_.data()); }
  unsigned number() const noexcept { return number_; }

private:
  turn_place(std::string name, machine::shared_memory memory, int file) noexcept;

  std::string name_;
  machine::shared_memory memory_;
  int file_;
  unsigned number_ = 0;
  bool taken_ = false;
};

}  // namespace cleave::cosched
