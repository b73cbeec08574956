#pragma once

#include "machine/futex.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cleave::cosched {

/// What doorbells are made of outside of the model checker: memory that the ranks of a node share.
struct platform {
  template <class T>
  using atomic = std::atomic<T>;
  static constexpr unsigned most_workers = 1024;  // ranks of a job on one node

  /// The net below: a sleep ends after this time even if nobody rang. The time is long enough that
  /// a rank which has sent something, and was taken off its CPU before it rang, is back by then.
  static constexpr std::chrono::milliseconds longest_sleep{200};

  static void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void wake(const atomic<std::uint32_t>& word) noexcept { machine::wake_shared(word); }
};

}  // namespace cleave::cosched
