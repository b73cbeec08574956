#include "sim/core.hpp"

#include <algorithm>

/// How a simulated core divides work, and how its workers find it.
namespace sim {

/// Whether a piece is a part of the other, or that itself. 0 is the whole.
bool core::within(std::uint64_t part, std::uint64_t scope) const {
  if (scope == 0) return true;
  while (part != 0 && part != scope) {
    const auto at = pieces_.find(part);
    part = at == pieces_.end() ? 0 : at->second.parent;
  }
  return part == scope;
}

std::uint64_t core::find_unclaimed(std::uint64_t scope) const {
  for (const std::uint64_t id : unclaimed_) {
    if (within(id, scope)) return id;
  }
  return 0;
}

std::uint64_t core::away_below(std::uint64_t scope) const {
  for (const auto& [id, t] : protocol_->given()) {
    if (within(id, scope)) return id;
  }
  return 0;
}

std::uint64_t core::scope_of(std::uint64_t came_as) const {
  const auto at = came_as_.find(came_as);
  return at == came_as_.end() ? 0 : at->second;
}

/// The oldest frame with something to give. From the scope's root inward, everything on the stack
/// is a part of it.
core::place core::oldest(worker& w, std::uint64_t scope) {
  for (execution& e : w.stack) {
    if (!e.begun || !within(e.piece, scope)) continue;
    if (stopping_ && pieces_.at(e.piece).stopped) continue;
    for (; e.open < e.frames.size(); ++e.open) {
      frame& f = e.frames[e.open];
      if (f.next != f.end) return {&e, &f};
    }
  }
  return {};
}

/// A part of the scope, split by one of the workers; 0 if none has anything.
std::uint64_t core::split(std::uint64_t scope, const worker* not_from) {
  if (world_.now() < barren_until_ && !changed_) return 0;
  const std::size_t first = random_.below(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::size_t which = (first + i) % workers_.size();
    worker& w = workers_[which];
    if (&w == not_from || w.stack.empty()) continue;
    if (!how_.exact) advance(w);
    const place where = oldest(w, scope);
    if (where.at == nullptr) continue;
    const std::uint64_t part = divide(where);
    if (w.planned) plan(static_cast<unsigned>(which));
    return part;
  }
  if (scope == 0 && !changed_) barren_until_ = next_visit();
  return 0;
}

/// When one of the workers begins the next node of the tree.
instant core::next_visit() const {
  if (how_.exact) return world_.now() + instant(1);  // an event of its own
  instant at = instant::max();
  for (const worker& w : workers_) {
    if (!w.stack.empty() && w.awaited == 0) at = std::min(at, w.clock + how_.node_cost);
  }
  return at;
}

/// The upper half of what remains, rounded up.
std::uint64_t core::divide(place where) {
  frame& f = *where.at;
  std::uint32_t children = 0;
  for (std::uint32_t c = f.next; c < f.end; c += tree_.size[c]) ++children;
  std::uint32_t middle = f.next;
  for (std::uint32_t i = 0; i < children / 2; ++i) middle += tree_.size[middle];
  piece& parent = pieces_.at(where.in->piece);
  piece p;
  p.parent = where.in->piece;
  p.from = middle;
  p.to = f.end;
  p.depth = ++parent.depth;
  const std::uint64_t id = ++last_piece_;
  f.end = middle;
  f.parts.push_back(id);
  pieces_.emplace(id, p);
  return id;
}

/// Finds work for a worker that has none, here or elsewhere.
void core::feed(unsigned which, std::uint64_t scope) {
  worker& w = workers_[which];
  std::uint64_t part = find_unclaimed(scope);
  if (part == 0) part = split(scope, &w);
  if (part != 0) {
    sated(which);
    return run(w, part);
  }
  if (scope == 0) {
    hunger(which, 0);
  } else if (const std::uint64_t away = away_below(scope); away != 0) {
    hunger(which, away);
  } else {
    sated(which);
  }
  // Others here compute: they will have something to give a little later.
  const bool others = std::any_of(workers_.begin(), workers_.end(), [](const worker& o) {
    return !o.stack.empty() && o.awaited == 0;
  });
  if (others && !w.planned) {
    w.planned = true;
    const instant soon = world_.now() + 5 * how_.poll_every;
    const instant later = std::min(barren_until_, world_.now() + instant(20'000));
    world_.plan_worker(number_, which, ++w.turn, std::max(soon, later));
  }
}

void core::hunger(unsigned which, std::uint64_t wanted) {
  worker& w = workers_[which];
  if (w.asking && w.wanted == wanted) return;
  w.asking = true;
  w.wanted = wanted;
  protocol_->starving(world_.now(), which, wanted);
}

void core::sated(unsigned which) {
  worker& w = workers_[which];
  if (!w.asking) return;
  w.asking = false;
  protocol_->satisfied(world_.now(), which);
}

}  // namespace sim
