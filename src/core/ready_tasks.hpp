#pragma once

#include "core/deque.hpp"

#include <cstdint>
#include <limits>

namespace cleave::detail {

/// The tasks of task groups that are ready on one worker: it pushes and takes the newest, anybody
/// steals the oldest. A task is in it from push() until exactly one take() or steal returns it.
class ready_tasks {
public:
  /// Tasks of other groups that take() puts back, at most. So one call passes few of them, or none
  /// of them is passed again: however groups are filled and waited for, that is linear.
  static constexpr std::uint64_t few = 8;

  /// Owner only. Makes room for one more. Throws std::bad_alloc; then nothing has changed.
  void reserve() { deque_.reserve(); }
  /// Owner only, after reserve().
  void push(task& t) noexcept;

  /// Owner only: how many there are, at most.
  std::int64_t size() const noexcept { return deque_.size(); }

  /// Owner only: the newest task, if it is of that group, which the owner made; else null.
  task* take_newest(const group_scope& group) noexcept {
    if (deque_.bottom() <= group.lowest || deque_.newest() != &group) return nullptr;
    return deque_.take();
  }

  struct taken {
    task* found = nullptr;  // the task, or null
    task* left = nullptr;   // a list, the oldest first, by task::before
    bool moved = false;     // some others were out for a moment
  };
  /// Owner only: the newest task of the group, wherever in here it lies. Others lie above it only
  /// if tasks of several groups were spawned in turn; they are taken out. A few are put back, more
  /// are `left` to the caller, who finds another place for them. Of a group that this thread made,
  /// nothing below its tasks is touched.
  taken take(const group_scope& group) noexcept;
  /// Anybody: the oldest task, or null.
  task* steal() noexcept { return deque_.steal(); }
  /// Anybody: the oldest task, if its group is that scope or below it.
  task* steal_within(const scope& wanted) noexcept { return deque_.steal_within(wanted); }

  /// Owner only: what is said of the newest task to nodes that ask in vain; null if there is none.
  /// The task is out for a moment, so that nobody else ends it.
  const staying_type* stays() noexcept;

  /// Owner only: whether a task of the group is in here, at any place.
  bool holds(const scope* group) noexcept;
  /// Owner only: a group of which a task is in here, of those that the owner made inside `wanted`,
  /// a scope of that depth; or null.
  const group_scope* filled_within(const scope* wanted, std::uint32_t depth) noexcept;
  /// Owner only: says that the group has no tasks any more.
  void emptied(group_scope& group) noexcept;
  /// Anybody: whether there is no task.
  bool empty() const noexcept { return deque_.empty(); }

  std::uint64_t passed = 0;  // owner only: how many tasks of other groups take() has taken out

private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  deque<native_deque> deque_;
  group_scope* filled_last_ = nullptr;  // a list of the owner's groups that are filled
  const scope* sought_ = nullptr;       // the group that holds() has looked for last
  std::int64_t absent_below_ = 0;       // no task of sought_ is below this place
};

}  // namespace cleave::detail
