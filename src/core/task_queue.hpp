#pragma once

#include <cleave/detail/task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace cleave::detail {

/// Tasks that are no worker's yet. Any thread pushes, and any thread takes the oldest, of all or of
/// those below some scope. A task is in it from push() until exactly one take returns it. What a
/// call costs does not grow with the number of tasks.
class task_queue {
public:
  /// Appends a task. seq_cst: partner of a worker that says that it asks, and then looks whether
  /// this is empty. Throws std::bad_alloc; then nothing has changed.
  void push(task& t);
  /// Takes the oldest task, or null.
  task* take() noexcept;
  /// Takes the oldest task of a group that is `wanted` or below it, or null. All tasks here are of
  /// groups. A group is there while a task of it is in here, so its scopes may be looked at.
  task* take_within(const scope& wanted) noexcept;
  bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }
  /// How many pushes there have been. A thread that found nothing need not look again before this
  /// number has changed. seq_cst: partner of push(), as with empty().
  std::uint64_t pushes() const noexcept { return pushes_.load(std::memory_order_seq_cst); }

private:
  struct entry {
    task* item;              // null: taken
    const scope* group;      // may be null
    std::uint64_t next = 0;  // number of the next one of its group, if it is not the last
  };
  struct numbers {  // the numbers of a group's oldest and newest task
    std::uint64_t first, last;
  };
  using groups = std::unordered_map<const scope*, numbers>;

  task* take_of(groups::iterator group) noexcept;
  entry& at(std::uint64_t number) noexcept {
    return entries_[static_cast<std::size_t>(number - first_)];
  }

  std::mutex mutex_;
  std::deque<entry> entries_;         // the first one is not taken
  std::uint64_t first_ = 0;           // the number of the first entry
  groups groups_;                     // groups with tasks in here
  std::atomic<std::size_t> size_{0};  // what empty() reads without the mutex
  std::atomic<std::uint64_t> pushes_{0};
};

}  // namespace cleave::detail
