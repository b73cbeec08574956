#pragma once

#include <cleave/detail/task.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace cleave {

/// A stretch of computation that can be stopped before its end:
///
///     cancel_scope search;
///     search.run([&] { ... if (found) search.cancel(); ... });
///
/// cancel() makes every worker that computes for the scope, however far down, unwind from its next
/// poll (undoing its steps) by an exception of a private type; `catch (...)` must rethrow it. What
/// is outside of the scope goes on. Capture a scope by reference.
class cancel_scope : detail::scope {
public:
  /// Opens inside the scope that the calling thread works for.
  cancel_scope() noexcept : scope(detail::here.current) {}
  ~cancel_scope() { end(); }
  cancel_scope(const cancel_scope&) = delete;
  cancel_scope& operator=(const cancel_scope&) = delete;

  /// Runs f(). Returns whether it ran to its end; if f returns a value, an optional with it, empty
  /// when cancelled. Throws what f threw, and std::logic_error while it runs already: nothing has
  /// happened then. Called by the thread that made the scope.
  template <class F>
  auto run(F f) {
    using result = std::invoke_result_t<F&>;
    std::optional<detail::value_of<result>> outcome;
    const running now(*this);
    try {
      if (!cancelled()) {
        detail::scope_frame inside(*this);
        outcome.emplace(detail::value(f));
      }
    } catch (const detail::cancelled&) {
      if (detail::told_stopped(parent)) throw;
    }
    if constexpr (std::is_void_v<result>) {
      return outcome.has_value();
    } else {
      return outcome;
    }
  }

  /// Cancels what runs inside, and all that will. Any thread, while the scope lives; no signal
  /// handler. Does not block.
  void cancel() noexcept {
    if (thread_.load(std::memory_order_relaxed) == &detail::here &&
        !shared.load(std::memory_order_relaxed)) {
      detail::cancel_own(*this, own_);
      cancelled_here_ = true;
      return;
    }
    detail::stop(*this);
    const std::lock_guard lock(sequential_mutex_);
    if (sequential_ != nullptr) detail::interrupt(*sequential_);
  }
  /// Whether the scope was cancelled, or what it runs in. Called by its own thread and by tasks
  /// inside.
  bool cancelled() const noexcept { return cancelled_here_ || detail::told_stopped(this); }

private:
  /// Lives while a run() is under way. On a thread that is no worker, cancel() has to ring that
  /// thread.
  struct running {
    explicit running(cancel_scope& s) : of(s), outside(s.parent), leap(s.leap), depth(s.depth) {
      if (of.thread_.load(std::memory_order_relaxed) != nullptr)
        throw std::logic_error("cleave::cancel_scope::run: it is running already");
      of.thread_.store(&detail::here, std::memory_order_relaxed);
      of.put_below(detail::here.current);
      // Either cancel() rings this thread, or cancelled() is true.
      if (detail::here.self == nullptr) set_sequential(&detail::here);
    }
    ~running() {
      of.thread_.store(nullptr, std::memory_order_relaxed);
      detail::forget_own(of, of.own_);
      // What it was made in may be gone.
      of.leap = leap, of.depth = depth;
      if (of.parent != outside) of.parent = outside;  // others may read it
      if (detail::here.self == nullptr) set_sequential(nullptr);
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

    void set_sequential(detail::local* thread) noexcept {
      const std::lock_guard lock(of.sequential_mutex_);
      of.sequential_ = thread;
    }
    cancel_scope& of;
    detail::scope* const outside;
    const detail::scope* const leap;
    const std::uint32_t depth;
  };

  std::atomic<detail::local*> thread_{nullptr};  // the thread that runs the scope
  detail::own_mark own_;
  bool cancelled_here_ = false;  // the mark was that thread's own, and may be gone
  /// The thread that runs the scope, if that is no worker. Guarded by the mutex, as the thread may
  /// end.
  detail::local* sequential_ = nullptr;
  std::mutex sequential_mutex_;
};

}  // namespace cleave
