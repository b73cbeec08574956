#include "sim/shared_tree.hpp"

#include <algorithm>

namespace sim {

std::uint32_t shared_tree::add_part(std::uint32_t parent, open_loop range, std::uint32_t stack) {
  std::uint32_t p = static_cast<std::uint32_t>(parts_.size());
  if (free_.empty()) parts_.emplace_back();
  else p = free_.back(), free_.pop_back();
  part& made = parts_[p];
  made = {none, p, 0, none, range.next, range.end, range.level, stack, none, part::state::handed,
          0};
  if (parent == none) return p;
  const part& up = parts_[parent];
  const part& one = parts_[up.leap];
  made.parent = parent;
  made.depth = up.depth + 1;
  made.leap = up.depth - one.depth == one.depth - parts_[one.leap].depth ? one.leap : parent;
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
  if (wanted == none) return true;
  const std::uint32_t depth = parts_[wanted].depth;
  while (parts_[p].depth > depth) {
    const part& at = parts_[p];
    p = parts_[at.leap].depth >= depth ? at.leap : at.parent;
  }
  return p == wanted;
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
  unsigned open = 0;
  for (auto l = on.loops.begin() + loop + 1; l != on.loops.end() && open < least; ++l)
    open += l->next != l->end ? 1U : 0U;
  return open >= least;
}

std::uint32_t shared_tree::split(loop_stack& on, std::uint32_t on_number, std::uint32_t loop,
                                 unsigned shares) {
  open_loop& l = on.loops[loop];
  std::uint32_t left = 0;
  for (std::uint32_t i = l.next; i < l.end; i += tree_.size[i]) ++left;
  // One more is under way.
  const std::uint32_t share = std::clamp<std::uint32_t>((left + 1) / shares, 1, left);
  std::uint32_t from = l.next;
  for (std::uint32_t k = share; k < left; ++k) from += tree_.size[from];
  std::uint32_t scope = none;
  for (const running_part& r : on.parts)
    if (r.base <= loop) scope = r.which;
  const std::uint32_t p = add_part(scope, {from, l.end, l.level, none}, on_number);
  parts_[p].before = l.last_part;
  l.last_part = p;
  l.end = from;
  return p;
}

}  // namespace sim
