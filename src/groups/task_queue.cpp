#include "groups/task_queue.hpp"

#include <algorithm>

namespace cleave::detail {

void task_queue::push(task& t) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(&t);
  size_.store(tasks_.size(), std::memory_order_seq_cst);
}

task* task_queue::take(const scope* group) noexcept {
  if (empty()) return nullptr;
  std::lock_guard lock(mutex_);
  const auto at = find(group);
  if (at == tasks_.end()) return nullptr;
  task* const t = *at;
  tasks_.erase(at);
  size_.store(tasks_.size(), std::memory_order_relaxed);
  return t;
}

bool task_queue::holds(const scope* group) noexcept {
  if (empty()) return false;
  std::lock_guard lock(mutex_);
  return find(group) != tasks_.end();
}

std::deque<task*>::iterator task_queue::find(const scope* group) noexcept {
  return std::find_if(tasks_.begin(), tasks_.end(),
                      [&](const task* t) { return group == nullptr || t->parent == group; });
}

}  // namespace cleave::detail
