#pragma once

#include "cosched/turns.hpp"
#include "machine/interrupter.hpp"

#include <atomic>
#include <thread>

namespace cleave::cosched {

/// Interrupts a rank that calls MPI seldom when another job's turn begins. A thread that sleeps
/// until the turn changes; it is there once the rank has wanted it.
class turn_watch {
public:
  /// Made by the rank's thread, which will call `interrupted` wherever it is.
  explicit turn_watch(void (*interrupted)()) noexcept : rank_(interrupted) {}
  /// Waits for the thread to end.
  ~turn_watch();
  turn_watch(const turn_watch&) = delete;
  turn_watch& operator=(const turn_watch&) = delete;

  bool works() const noexcept { return rank_.works(); }
  bool has_begun() const noexcept { return thread_.joinable(); }
  /// Starts the thread. Called once; both must outlive this. Does nothing if there can be no more
  /// threads.
  void begin(turns& of_rank, turn_board& shared) noexcept;

private:
  void watch(turns& of_rank) noexcept;

  machine::interrupter rank_;
  turn_board* board_ = nullptr;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

}  // namespace cleave::cosched
