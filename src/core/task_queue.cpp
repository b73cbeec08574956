#include "core/task_queue.hpp"

#include <utility>

namespace cleave::detail {

void task_queue::push(task& t) {
  std::lock_guard lock(mutex_);
  const std::uint64_t number = first_ + entries_.size();
  entries_.push_back({&t, t.parent});
  try {
    const auto [group, fresh] = groups_.try_emplace(t.parent, numbers{number, number});
    if (!fresh) {
      at(group->second.last).next = number;
      group->second.last = number;
    }
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  pushes_.store(pushes_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
}

task* task_queue::take() noexcept {
  if (empty()) return nullptr;
  std::lock_guard lock(mutex_);
  return entries_.empty() ? nullptr : take_of(groups_.find(entries_.front().group));
}

task* task_queue::take_within(const scope& wanted) noexcept {
  if (empty()) return nullptr;
  std::lock_guard lock(mutex_);
  auto group = groups_.find(&wanted);
  for (auto other = groups_.begin(); group == groups_.end() && other != groups_.end(); ++other) {
    if (is_within(other->first, &wanted, wanted.depth)) group = other;
  }
  return group == groups_.end() ? nullptr : take_of(group);
}

task* task_queue::take_of(groups::iterator group) noexcept {
  numbers& of = group->second;
  entry& oldest = at(of.first);
  task* const t = std::exchange(oldest.item, nullptr);
  if (of.first == of.last) groups_.erase(group);
  else of.first = oldest.next;
  while (!entries_.empty() && entries_.front().item == nullptr) entries_.pop_front(), ++first_;
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return t;
}

}  // namespace cleave::detail
