#include "sim/shared_tree.hpp"

#include <cleave/detail/division/loop.hpp>

#include <algorithm>

namespace sim {

std::uint32_t shared_tree::add_part(std::uint32_t parent, open_loop range, std::uint32_t stack) {
  auto p = static_cast<std::uint32_t>(parts_.size());
  if (free_.empty()) parts_.emplace_back();
  else p = free_.back(), free_.pop_back();
  part& made = parts_[p];
  made.put_below(parent != none ? &parts_[parent] : nullptr);
  made.before = range.last_part;
  made.from = range.next, made.to = range.end, made.level = range.level;
  made.stack = stack;
  made.is = part::state::handed;
  return p;
}

void shared_tree::begin(loop_stack& on, std::uint32_t p) {
  part& begun = parts_[p];
  begun.is = part::state::running;
  const auto base = static_cast<std::uint32_t>(on.loops.size());
  on.parts.push_back({p, base, base});
  on.loops.push_back({begun.from, begun.to, begun.level, none});
}

bool shared_tree::visit(loop_stack& on) {
  open_loop& loop = on.loops.back();
  const std::uint32_t node = loop.next, size = tree_.size[node], level = loop.level;
  loop.next += size;
  if (size == 1) return false;
  on.loops.push_back({node + 1, node + size, level + 1, none});
  return true;
}

bool shared_tree::is_within(std::uint32_t p, std::uint32_t wanted) const {
  return wanted == none ||
         cleave::detail::is_within(&parts_[p], &parts_[wanted], parts_[wanted].depth);
}

shared_tree::found shared_tree::oldest(loop_stack& on, std::uint32_t wanted) const {
  found f;
  const auto first = std::find_if(on.parts.begin(), on.parts.end(), [&](const running_part& r) {
    return is_within(r.which, wanted);
  });
  if (first == on.parts.end()) return f;
  f.mine = true;
  const auto size = static_cast<std::uint32_t>(on.loops.size());
  std::uint32_t& at = first->cursor;
  at = std::min(at, size);
  for (; at < size && on.loops[at].next == on.loops[at].end; ++at) ++f.searched;
  if (at < size) f.loop = at;
  return f;
}

shared_tree::found shared_tree::oldest_from_level(const loop_stack& on, std::uint32_t level) const {
  found f;
  f.mine = !on.parts.empty();
  for (std::uint32_t i = 0; i < on.loops.size(); ++i) {
    const open_loop& loop = on.loops[i];
    if (loop.level < level || loop.next == loop.end) continue;
    f.loop = i;
    break;
  }
  return f;
}

bool shared_tree::leaves_further_in(const loop_stack& on, std::uint32_t loop, unsigned least) {
  const std::size_t begin = loop + std::size_t{1}, end = std::min(on.loops.size(), begin + 64);
  unsigned open = 0;
  for (std::size_t i = begin; i < end && open < least; ++i)
    open += on.loops[i].next != on.loops[i].end ? 1U : 0U;
  return open >= least;
}

std::uint32_t shared_tree::split(loop_stack& on, std::uint32_t on_number, std::uint32_t loop,
                                 unsigned shares) {
  open_loop& l = on.loops[loop];
  std::uint32_t left = 0;
  for (std::uint32_t i = l.next; i < l.end; i += tree_.size[i]) ++left;
  std::uint32_t kept =
      cleave::detail::begin_of_share(0U, left + 1, shares) - 1;  // one is under way
  std::uint32_t from = l.next;
  for (; kept > 0; --kept) from += tree_.size[from];
  std::uint32_t scope = none;
  for (const running_part& r : on.parts)
    if (r.base <= loop) scope = r.which;
  const std::uint32_t p = add_part(scope, {from, l.end, l.level, l.last_part}, on_number);
  l.last_part = p;
  l.end = from;
  return p;
}

}  // namespace sim
