#pragma once

#include <cleave/detail/task.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

namespace cleave::detail {

/// Tasks that are no worker's yet. Any thread pushes, and any takes the oldest. A task is in it
/// from push() until exactly one take() returns it.
class task_queue {
public:
  /// seq_cst: partner of a worker that says that it asks, and then looks whether this is empty.
  void push(task& t);
  /// The oldest of the group (null: of all), or null.
  task* take(const scope* group = nullptr) noexcept;
  bool holds(const scope* group) noexcept;
  bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

private:
  std::deque<task*>::iterator find(const scope* group) noexcept;

  std::mutex mutex_;
  std::deque<task*> tasks_;
  std::atomic<std::size_t> size_{0};  // what empty() reads without the mutex
};

}  // namespace cleave::detail
