#pragma once

#include "cosched/turn_board.hpp"
#include "machine/shared_memory.hpp"

#include <sys/types.h>
#include <memory>
#include <string>

namespace cleave::cosched {

/// A job's place on a board in memory that the jobs of a user share, under a name that says which
/// CPUs they have.
class turn_place {
public:
  /// Takes a place; null if there is none. The first rank of a job calls it.
  static std::unique_ptr<turn_place> take(const std::string& name);
  /// Opens the place that the first rank has taken; null if it cannot be had.
  static std::unique_ptr<turn_place> open(const std::string& name, unsigned place);
  /// Whether another user has what would be the board.
  static bool is_anothers(const std::string& name);
  /// The rank that has taken the place gives it back. The job that leaves last leaves no name
  /// behind.
  ~turn_place();
  turn_place(const turn_place&) = delete;
  turn_place& operator=(const turn_place&) = delete;

  turn_board& board() const noexcept { return *reinterpret_cast<turn_board*>(memory_.data()); }
  unsigned number() const noexcept { return number_; }

private:
  turn_place(std::string name, machine::shared_memory memory, int file) noexcept;
  void leave() noexcept;

  std::string name_;
  machine::shared_memory memory_;
  int file_;
  pid_t made_by_;
  unsigned number_ = 0;
  bool taken_ = false;
};

}  // namespace cleave::cosched
