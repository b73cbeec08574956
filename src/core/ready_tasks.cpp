#include "core/ready_tasks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cleave::detail {

void ready_tasks::push(task& t) noexcept {
  auto& group = static_cast<group_scope&>(*t.parent);
  if (group.owner == here.self) {
    if (group.lowest == never) group.filled_before = std::exchange(filled_last_, &group);
    group.lowest = std::min(group.lowest, deque_.bottom());
  }
  deque_.push(t);
}

ready_tasks::taken ready_tasks::take(const group_scope& group) noexcept {
  constexpr auto anywhere = std::numeric_limits<std::int64_t>::min();
  const bool made_here = group.owner == here.self;
  const std::int64_t lowest = made_here ? group.lowest : anywhere;
  if (deque_.bottom() <= lowest) return {};
  taken result;
  task* others = nullptr;
  std::uint64_t n = 0;
  while (result.found == nullptr && deque_.bottom() > lowest) {
    task* const t = deque_.take();
    if (t == nullptr) break;
    if (t->parent == &group) result.found = t;
    else t->before = std::exchange(others, t), ++n;
  }
  passed += n;
  absent_below_ = std::min(absent_below_, deque_.bottom());
  result.moved = n != 0;
  if (result.found != nullptr && n > few) {
    result.left = others;
    return result;
  }
  while (others != nullptr) {
    task& t = *others;
    others = std::exchange(t.before, nullptr);
    push(t);
  }
  // Thieves have the others of the group: what is in here now is not passed again for it.
  if (result.found == nullptr && made_here) group.lowest = deque_.bottom();
  return result;
}

const staying_type* ready_tasks::stays() noexcept {
  task* const newest = deque_.take();
  if (newest == nullptr) return nullptr;
  const staying_type* const found = static_cast<group_task*>(newest)->stays();
  push(*newest);
  return found;
}

bool ready_tasks::holds(const scope* group) noexcept {
  if (std::exchange(sought_, group) != group) absent_below_ = 0;
  if (deque_.holds(group, absent_below_)) return true;
  absent_below_ = deque_.bottom();
  return false;
}

const group_scope* ready_tasks::filled_within(const scope* wanted, std::uint32_t depth) noexcept {
  for (group_scope* g = filled_last_; g != nullptr; g = g->filled_before) {
    if (!is_within(g, wanted, depth)) continue;
    if (deque_.holds(g, g->lowest)) return g;
    g->lowest = deque_.bottom();
  }
  return nullptr;
}

void ready_tasks::emptied(group_scope& group) noexcept {
  if (std::exchange(group.lowest, never) == never) return;
  group_scope** of = &filled_last_;
  while (*of != &group) of = &(*of)->filled_before;
  *of = group.filled_before;
}

}  // namespace cleave::detail
