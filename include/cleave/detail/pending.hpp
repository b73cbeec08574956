#pragma once

#include <atomic>
#include <cstdint>

namespace cleave::detail {

/// How many tasks of a group have not ended: what its owner counts for itself, plus what all count.
/// The owner's own tasks that nobody steals need no atomic operation so.
///
/// Invariant: own + all is the number of tasks that have not ended, modulo 2^32. Only while `own`
/// is 0 does whoever ends the last one know it: so the owner tells its count before it waits.
/// `Atomic` is std::atomic<std::uint32_t>, or what the model checker has for it.
template <class Atomic>
class pending_tasks {
public:
  pending_tasks() noexcept = default;
  explicit pending_tasks(std::uint32_t counted_by_all) noexcept : all_(counted_by_all) {}

  // The owner.

  void begin_own() noexcept { ++own_; }
  void end_own() noexcept { --own_; }
  void tell() noexcept {
    if (own_ == 0) return;
    all_.fetch_add(own_, std::memory_order_acq_rel);
    own_ = 0;
  }
  /// Acquire: what tasks that ended have written. Partner of end().
  bool none() const noexcept { return own_ + all_.load(std::memory_order_acquire) == 0; }

  // Any thread.

  void begin() noexcept { all_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns whether none is left, if the owner has told its count. Release: what the task wrote.
  bool end() noexcept { return all_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// The word that changes, for a thread that blocks on it and counts nothing for itself.
  Atomic& word() noexcept { return all_; }

private:
  Atomic all_{0};
  std::uint32_t own_ = 0;
};

}  // namespace cleave::detail
