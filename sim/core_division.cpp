#include "sim/core.hpp"

#include <algorithm>

/// How a simulated core divides work, and how its workers find it.
namespace sim {

/// Whether a piece is a part of another one, or that one itself. 0 is the whole.
bool core::within(std::uint64_t part, std::uint64_t scope) const {
  if (scope == 0) return true;
  while (part != 0 && part != scope) {
    const auto at = pieces_.find(part);
    part = at == pieces_.end() ? 0 : at->second.parent;
  }
  return part == scope;
}

std::uint64_t core::find_unclaimed(std::uint64_t scope, unsigned losses_below) const {
  for (const std::uint64_t id : unclaimed_) {
    if (pieces_.at(id).losses < losses_below && within(id, scope)) return id;
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

/// The first node of the frame that nobody has begun to visit.
std::uint32_t core::first_to_give(const worker& w, const execution& e, const frame& f) const {
  // Where every visit is an event of its own, the visit takes place at its end.
  const bool visiting = !how_.exact && w.awaited == 0 && w.clock < world_.now() &&
                        &e == &w.stack.back() && &f == &e.frames.back() && f.next != f.end;
  return visiting ? f.next + tree_.size[f.next] : f.next;
}

/// The oldest frame with something to give.
core::place core::oldest(worker& w, std::uint64_t scope) {
  bool inside = false;
  for (execution& e : w.stack) {
    // From the scope's root inward, everything on the stack is a part of it.
    inside = inside || within(e.piece, scope);
    if (!inside || !e.begun) continue;
    if (stopping_ && pieces_.at(e.piece).stopped) continue;
    for (; e.open < e.frames.size(); ++e.open) {
      frame& f = e.frames[e.open];
      const std::uint32_t first = first_to_give(w, e, f);
      if (first != f.end) return {&e, &f, first};
      if (f.next != f.end) break;  // the frame's last node is being visited
    }
  }
  return {};
}

/// A part of the scope, which one of the workers splits off; 0 if none has anything.
std::uint64_t core::split(std::uint64_t scope, const worker* not_from) {
  const std::size_t start = random_.below(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::size_t which = (start + i) % workers_.size();
    worker& w = workers_[which];
    if (&w == not_from || w.stack.empty()) continue;
    if (!how_.exact) advance(w);
    const place where = oldest(w, scope);
    if (where.at == nullptr) continue;
    const std::uint64_t part = divide(where);
    if (w.pending) push_event(static_cast<unsigned>(which));
    return part;
  }
  return 0;
}

/// When a worker that has nothing to give will have something; never, if it joins first.
instant core::next_gift(const worker& w) const {
  if (w.stack.empty() || w.awaited != 0) return instant::max();
  const execution& e = w.stack.back();
  const frame& f = e.frames.back();
  if (f.next == f.end) return instant::max();
  instant at = w.clock;
  std::uint32_t node = f.next;
  // The way down from the node that it visits, as far as there is only one child.
  for (const std::uint32_t end = f.end; node + tree_.size[node] == end; ++node) {
    if (tree_.size[node] == 1) return instant::max();
    at += how_.node_cost;
  }
  return e.begun ? at : std::max(at, w.clock + how_.node_cost);
}

/// When the first of the workers in the scope will have something to give.
instant core::next_gift(std::uint64_t scope, const worker* not_from) const {
  instant first = instant::max();
  for (const worker& w : workers_) {
    if (&w == not_from || w.stack.empty()) continue;
    const instant at = next_gift(w);
    if (at < first && within(w.stack.back().piece, scope)) first = at;
  }
  return std::max(first, world_.now() + instant(1));
}

/// The upper half of what remains, rounded up.
std::uint64_t core::divide(place where) {
  frame& f = *where.at;
  std::uint32_t children = 0;
  for (std::uint32_t c = where.first; c < f.end; c += tree_.size[c]) ++children;
  std::uint32_t middle = where.first;
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
  if (world_.now() < w.look_at && !changed_) return;
  std::uint64_t part = find_unclaimed(scope, ~0U);
  if (part == 0 && world_.now() >= barren_until_) {
    part = split(scope, &w);
    if (part == 0 && scope == 0 && !how_.exact) barren_until_ = next_gift(0, &w);
  }
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
  look_again(which, scope);
}

/// Plans another look: others here compute, and will have something to give a little later.
void core::look_again(unsigned which, std::uint64_t scope) {
  worker& w = workers_[which];
  instant at = world_.now() < barren_until_ ? barren_until_ : next_gift(scope, &w);
  if (how_.exact) {
    const bool others = std::any_of(workers_.begin(), workers_.end(), [](const worker& o) {
      return !o.stack.empty() && o.awaited == 0;
    });
    at = others ? world_.now() + 5 * how_.poll_every : instant::max();
  } else {
    w.look_at = at;
  }
  if (at == instant::max() || (w.pending && w.due_at <= at)) return;
  w.pending = true;
  w.due_at = at;
  world_.push_worker(number_, which, ++w.epoch, at);
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
