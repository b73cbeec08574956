#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

namespace cleave::detail {

/// The exception of the first task, in program order, among those that threw.
class first_error {
  static constexpr std::uint64_t none = (std::numeric_limits<std::uint64_t>::max)();

public:
  /// Keeps what task `number` threw, unless an earlier one has thrown. Any thread may call it.
  void keep(std::uint64_t number, std::exception_ptr e) noexcept {
    const std::lock_guard lock(mutex_);
    if (number >= number_.load(std::memory_order_relaxed)) return;
    error_ = std::move(e);
    number_.store(number, std::memory_order_relaxed);
  }
  /// Whether a task before task `number` has thrown. Any thread may call it.
  bool is_before(std::uint64_t number) const noexcept {
    return number_.load(std::memory_order_relaxed) < number;
  }
  /// Returns the exception, if there is one, and forgets it. Called when no task up to `up_to` is
  /// left that could keep another; later tasks may be under way.
  std::exception_ptr take(std::uint64_t up_to = none) {
    const std::lock_guard lock(mutex_);
    if (number_.load(std::memory_order_relaxed) > up_to) return nullptr;
    number_.store(none, std::memory_order_relaxed);
    return std::exchange(error_, nullptr);
  }
  /// Throws the exception, if there is one, and forgets it. Called when no task is left that could
  /// keep another.
  void rethrow() {
    if (number_.load(std::memory_order_relaxed) == none) return;
    if (const auto thrown = take()) std::rethrow_exception(thrown);
  }

private:
  std::mutex mutex_;
  std::exception_ptr error_;
  std::atomic<std::uint64_t> number_{none};
};

}  // namespace cleave::detail
