#pragma once

#include <atomic>
#include <cstdint>

namespace cleave::detail {

/// The platform of mailboxes and boards: this machine's own atomics and futex.
struct native {
  static constexpr unsigned most_workers = 1024;
  static constexpr unsigned most_slots = 64;
  template <class T>
  using atomic = std::atomic<T>;
  using cutoff = std::atomic<std::uintptr_t>;
  template <class T>
  using pointer = std::atomic<T*>;
  using depth = std::atomic<std::uint32_t>;
  using count = std::atomic<std::uint32_t>;
  /// What was stored before a seq_cst read-modify-write is visible to others before what comes
  /// after this fence is read. The fence follows the read-modify-write, which on x86 is one itself.
  static void fence_after_update() noexcept {
#if defined(__x86_64__)
    std::atomic_signal_fence(std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  /// Returns when the count may have changed, which takes others a few instructions.
  static void await_change(const count& word, std::uint32_t from) noexcept;
  static void block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    bool nap) noexcept;
  /// Wakes a thread that does not block on a word of its own.
  struct bell {
    void (*ring)(void*) noexcept = nullptr;
    void* of = nullptr;
  };
  static void wake(const std::atomic<std::uint32_t>& word, bell b) noexcept;
};

}  // namespace cleave::detail
