#pragma once

#include <atomic>
#include <cstdint>

namespace cleave::detail {

/// Whether a task has ended, and whether its owner is to be told.
///
/// Invariant: the runner ends it once. Either the owner has said before that it waits, and the
/// runner rings it; or the owner learns that the task has ended when it says so. An owner that only
/// looks is not rung, as a ring takes the cache line of its polled word away.
/// `Atomic` is std::atomic<std::uint32_t>, or what the model checker has for it.
template <class Atomic>
class completion {
public:
  static constexpr std::uint32_t open = 0, awaited = 1, ended = 2;

  /// Acquire: what the task has written. Partner of end().
  bool is_reached() const noexcept { return state_.load(std::memory_order_acquire) == ended; }
  /// The owner says that it may block. Returns false if the task has ended, in which case nobody
  /// rings.
  bool await() noexcept {
    std::uint32_t expected = open;
    return state_.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel,
                                          std::memory_order_acquire) ||
           expected == awaited;
  }
  /// The runner, at the end. Returns whether the owner is to be rung. The task may be gone then.
  bool end() noexcept { return state_.exchange(ended, std::memory_order_acq_rel) == awaited; }
  /// The word that changes, for a thread that blocks on it and never calls await().
  Atomic& word() noexcept { return state_; }

private:
  Atomic state_{open};
};

}  // namespace cleave::detail
