#pragma once

#include <cleave/detail/first_error.hpp>
#include <cleave/detail/task.hpp>

#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace cleave {

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

  /// Makes f() (or f.run(), of a task struct) ready. Polls, so it may throw if the group's scope
  /// was cancelled.
  template <class F>
  void spawn(F f) {
    std::uint64_t order = spawned_.fetch_add(1, std::memory_order_relaxed);
    detail::spawn(*new spawned<F>(*this, order, std::move(f)));
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
  struct spawned final : detail::group_task {
    spawned(task_group& g, std::uint64_t number, F&& work)
        : group_task(g), order(number), f(std::move(work)) {}
    void execute() noexcept override {
      try {
        if constexpr (cleave::task<F>) {
          f.run();
        } else {
          f();
        }
      } catch (const detail::cancelled&) {
        // The group, or a scope around it, was cancelled: wait() tells.
      } catch (...) {
        static_cast<task_group*>(static_cast<group_scope*>(parent))
            ->error_.keep(order, std::current_exception());
      }
    }
    std::uint64_t order;
    F f;
  };

  const int uncaught_ = std::uncaught_exceptions();
  std::atomic<std::uint64_t> spawned_{0};
  detail::first_error error_;
};

}  // namespace cleave
