#pragma once

#include "core/run_habits.hpp"
#include "core/seat.hpp"
#include "machine/stack.hpp"
#include "requests/native.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cleave::detail {

class pool;
class worker;
struct task;

/// What makes a thread that calls runtime::run() a worker of the pool for as long as that lasts:
/// the worker whose number comes after those of the pool's own threads.
///
/// Invariant: the guest is one thread at a time. It takes the seat of the reserve, the last of the
/// pool's threads, so that no more threads compute or ask than the pool has workers. The mailbox of
/// its worker has an owner only while there is a guest.
class guest {
public:
  /// Makes the worker. Called before the pool's threads begin. Throws std::system_error.
  guest(pool& of, std::size_t stack_bytes);
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;

  /// Runs a root task on the calling thread, which is no worker, and returns true; or returns false
  /// if the seat is not to be had. Blocks for some microseconds where the reserve is about to leave
  /// it.
  bool run(task& root) noexcept;
  bool is_here() const noexcept { return seat_.taken() == seat<native>::guest; }

  /// Returns once the reserve has to compute or ask, or the pool stops. Only the reserve calls it.
  void sit_out() noexcept;
  /// There is work that the guest has not brought. Any thread, after it can be found.
  void wake_reserve() noexcept;

  /// Whether idle workers better go on looking, as the next guest may come soon.
  bool is_expected() const noexcept;
  /// Whether runs are short, and one comes soon after the other: then a part of one ends about when
  /// the run does, and the next run is near.
  bool runs_are_short() const noexcept { return runs_are_short_.load(std::memory_order_relaxed); }
  /// The guest has given a part of its run. After a second one the run counts as long until it
  /// ends. Only the guest calls it.
  void gave_part() noexcept;

private:
  struct call;
  static void begin(void* of_call) noexcept;
  bool take_seat() noexcept;
  void compute(task& root) noexcept;
  worker& itself() const noexcept;
  worker& reserve() const noexcept;

  pool& of_;
  const machine::stack stack_;
  run_habits habits_;   // of the guest alone
  unsigned given_ = 0;  // how many parts of this run were given; only the guest uses it
  alignas(64) seat<native> seat_;
  alignas(64) std::atomic<std::uint64_t> expected_until_{0};
  alignas(64) std::atomic<bool> runs_are_short_{false};  // hardly ever changes, and all read it
};

}  // namespace cleave::detail
