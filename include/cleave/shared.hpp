#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace cleave {

/// Merge functions: of two values the better one.
struct max {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct min {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

/// A value that all workers share and that only improves: the bound of a branch and bound search, with
/// a witness of it if Witness is given (a tour, a clique). Merge(a, b) returns the better of two values; it must be
/// commutative, associative and idempotent. T is a trivially copyable type that fits in one lock-free atomic.
///
/// All functions may be called by any thread. What get() returns may be old, never wrong: it
/// was the best at some moment, and later calls of one thread never go back.
template <class T, class Merge = max, class Witness = void>
class shared {
  static_assert(std::atomic<T>::is_always_lock_free,
                "a shared value must fit in one lock-free atomic word");

public:
  explicit shared(T initial) noexcept : value_(initial) {}
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;

  /// One relaxed load.
  T get() const noexcept { return value_.load(std::memory_order_relaxed); }

  /// Merges v in; true if that improved the value. Lock-free.
  bool offer(T v) noexcept requires std::is_void_v<Witness> {
    T old = get();
    for (;;) {
      const T merged = Merge{}(old, v);
      if (merged == old) return false;
      if (value_.compare_exchange_weak(old, merged, std::memory_order_relaxed)) return true;
    }
  }

private:
  std::atomic<T> value_;
};

/// With a witness: bound and witness are one value, replaced together. Blocks only while another improves it.
template <class T, class Merge, class Witness>
  requires(!std::is_void_v<Witness>)
class shared<T, Merge, Witness> {
  static_assert(std::atomic<T>::is_always_lock_free,
                "a shared value must fit in one lock-free atomic word");

public:
  explicit shared(T initial) noexcept : value_(initial) {}
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;

  T get() const noexcept { return value_.load(std::memory_order_relaxed); }

  /// Merges v in; keeps a copy of w and returns true if that improved the value. The value is stored under the
  /// lock, so that no better bound is ever seen with an older witness.
  bool offer(T v, const Witness& w) {
    if (Merge{}(get(), v) == get()) return false;
    std::lock_guard lock(mutex_);
    const T old = get();
    const T merged = Merge{}(old, v);
    if (merged == old) return false;
    witness_ = w;
    value_.store(merged, std::memory_order_relaxed);
    return true;
  }

  /// The best value with a copy of its witness; no witness if none was ever offered.
  std::pair<T, std::optional<Witness>> best() const {
    std::lock_guard lock(mutex_);
    return {get(), witness_};
  }

private:
  std::atomic<T> value_;
  mutable std::mutex mutex_;
  std::optional<Witness> witness_;
};

}  // namespace cleave
