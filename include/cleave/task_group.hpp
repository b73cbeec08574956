#pragma once

#include <cleave/detail/first_error.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/staying_type.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace cleave {
namespace detail {

/// Calls what a group was given: a closure, or a task struct.
template <class F>
decltype(auto) run_work(F& f) {
  if constexpr (cleave::task<F>) {
    return f.run();
  } else {
    return f();
  }
}
template <class F>
using returned_by_work = decltype(run_work(std::declval<F&>()));

}  // namespace detail

/// Tasks that need no going back: each is ready as soon as it is spawned, and a thief takes it
/// without the help of the worker that spawned it. For work that is not a call tree; `both` and the
/// loops cost less.
///
///     task_group g;
///     for (auto& file : files) g.spawn([&file] { parse(file); });
///     g.wait();
///
/// A group belongs to the thread that made it: only that one waits, and ends it. Its tasks may
/// spawn into it too, and may use every construct. On a thread that is no worker, spawn runs the
/// task at once.
class task_group : detail::group_scope {
public:
  task_group() noexcept = default;
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Cancels if left by an exception, and waits. What a task threw is lost: call wait() to learn of
  /// it.
  ~task_group() {
    if (std::uncaught_exceptions() > uncaught_) cancel();
    detail::wait(*this);
  }

  template <class R>
  class result;

  /// Makes f() (or f.run(), of a task struct) ready. If that returns something, so does spawn, and
  /// it is there after wait():
  ///
  ///     auto x = g.spawn([=] { return fib(n - 1); });
  ///     const long y = fib(n - 2);
  ///     g.wait();
  ///     return *x + y;
  ///
  /// Polls, so it may throw if the group's scope was cancelled.
  template <class F>
  auto spawn(F f) {
    using returned = detail::returned_by_work<F>;
    if constexpr (std::is_void_v<returned>) {
      detail::spawn(*new spawned<F>(*this, next_number(), std::move(f)));
    } else {
      auto* const t = new spawned_with_result<F>(*this, next_number(), std::move(f));
      result<detail::value_of<returned>> later(*t);  // before the spawn, which may throw
      detail::spawn(*t);
      return later;
    }
  }

  /// Blocks until all tasks are done, helping with them and with nothing else. Returns false if the
  /// group was cancelled. Throws what the earliest spawned of the tasks that threw did; the others
  /// have run all the same. Throws std::logic_error on a thread that did not make the group,
  /// and in a task of it.
  bool wait() {
    if (!detail::is_mine(*this))
      throw std::logic_error(
          "cleave::task_group::wait: not the thread that made the group, or in a task of it");
    detail::wait(*this);
    error_.rethrow();
    return !detail::told_stopped(this);
  }

  /// Drops the tasks not begun and makes the others unwind at their next poll. Any thread.
  void cancel() noexcept { detail::cancel(*this); }

private:
  template <class F>
  static constexpr detail::staying_type stays_here{
      // no other node gets tasks of groups
      &typeid(F), detail::stays_for::group, 0, nullptr};

  /// A task, in memory of the worker that spawns it.
  struct numbered : detail::group_task, detail::in_task_memory {
    numbered(task_group& g, std::uint64_t number) noexcept : group_task(g), order(number) {}

    template <class F>
    void run(F&& f) noexcept {
      try {
        f();
      } catch (const detail::cancelled&) {
        // The group, or a scope around it, was cancelled: wait() tells.
      } catch (...) {
        static_cast<task_group*>(static_cast<group_scope*>(parent))
            ->error_.keep(order, std::current_exception());
      }
    }
    const std::uint64_t order;
  };
  template <class F>
  struct spawned final : numbered {
    spawned(task_group& g, std::uint64_t number, F&& work)
        : numbered(g, number), f(std::move(work)) {}
    void execute() noexcept override {
      run([this] { detail::run_work(f); });
    }
    const detail::staying_type* stays() const noexcept override { return &stays_here<F>; }
    F f;
  };

  /// A task whose result is kept: whoever has done with it last, the group or the `result`, frees
  /// it.
  template <class R>
  struct with_result : numbered {
    using numbered::numbered;
    void dispose() noexcept final {
      // acq_rel: partner of itself; what the other side did with the task came before.
      if (left_by_one.exchange(true, std::memory_order_acq_rel)) delete this;
    }
    std::optional<R> returned;
    std::atomic<bool> left_by_one{false};
  };
  template <class F>
  struct spawned_with_result final : with_result<detail::value_of<detail::returned_by_work<F>>> {
    spawned_with_result(task_group& g, std::uint64_t number, F&& work)
        : spawned_with_result::with_result(g, number), f(std::move(work)) {}
    void execute() noexcept override {
      this->run([this] { this->returned.emplace(detail::run_work(f)); });
    }
    const detail::staying_type* stays() const noexcept override { return &stays_here<F>; }
    F f;
  };

  /// The place of the next task in the order of spawns. Those of other threads come after those of
  /// the thread that made the group.
  std::uint64_t next_number() noexcept {
    if (thread == &detail::here) return spawned_here_++;
    return spawned_elsewhere_.fetch_add(1, std::memory_order_relaxed);
  }

  const int uncaught_ = std::uncaught_exceptions();
  std::uint64_t spawned_here_ = 0;
  std::atomic<std::uint64_t> spawned_elsewhere_{std::uint64_t{1} << 63};
  detail::first_error error_;
};

/// What a task of a group has returned. Belongs to the thread that spawned the task, and ends
/// before the run does; it may be dropped at any time.
template <class R>
class task_group::result {
public:
  result(result&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  result& operator=(result&& other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~result() {
    if (of_ != nullptr) of_->dispose();
  }

  /// Whether the task has returned something: it has run, threw nothing, and was not cancelled.
  /// Called after the group's wait().
  explicit operator bool() const noexcept { return of_ != nullptr && of_->returned.has_value(); }
  /// What it has returned. Throws std::bad_optional_access if that is nothing.
  R& operator*() & { return of_->returned.value(); }
  R&& operator*() && { return std::move(of_->returned).value(); }
  R* operator->() { return &of_->returned.value(); }

private:
  friend class task_group;
  explicit result(with_result<R>& of) noexcept : of_(&of) {}
  with_result<R>* of_;
};

}  // namespace cleave
