#include "sim/core.hpp"

#include <algorithm>
#include <utility>

#include "protocol/encoding.hpp"

/// The workers of a simulated core: what they do by themselves.
namespace sim {
namespace {

net::bytes encode_result(const piece& p) {
  net::bytes out;
  net::writer w(out);
  w.number(p.result.nodes), w.fixed(p.result.sum), w.number(p.error);
  return out;
}

}  // namespace

void core::advance(worker& w) {
  const instant now = world_.now();
  if (w.stack.empty() || w.awaited != 0 || waits_for_data()) return;
  auto n = static_cast<std::uint64_t>((now - w.clock) / how_.node_cost);
  w.clock += static_cast<std::int64_t>(n) * how_.node_cost;
  const std::uint64_t piece_id = w.stack.back().piece;
  for (;;) {
    // A failed visit has taken the execution off the stack.
    if (w.stack.empty() || w.stack.back().piece != piece_id) return;
    execution& e = w.stack.back();
    frame& f = e.frames.back();
    if (f.next == f.end) {
      if (!f.parts.empty() || e.frames.size() == 1) return;
      e.pop();
      continue;
    }
    const std::uint32_t child = f.next, size = tree_.size[child];
    if (how_.exact && how_.search && tree_.limit[child] <= best_) {
      f.next += size;
      e.result += tally_of(child, child + size);
      continue;
    }
    if (n == 0) return;
    e.begun = true;
    f.next += size;
    if (size <= n && !how_.exact) {
      n -= size;
      visited_ += size;
      e.result.nodes += size;
      continue;
    }
    --n;
    ++visited_;
    if (how_.exact) {
      e.result += tally_of(child, child + 1);
      best_ = how_.search ? std::max(best_, tree_.value[child]) : 0;
      if (tree_.throws[child]) return fail(w, child + 1);
    } else {
      ++e.result.nodes;
    }
    if (size > 1) e.frames.push_back({child + 1, child + size, {}});
  }
}

/// How long a worker works on before it meets a join that has something to wait for, or the end.
instant core::until_join(const worker& w) const {
  if (how_.exact) return how_.node_cost;
  std::uint64_t nodes = 0;
  const auto& frames = w.stack.back().frames;
  for (auto f = frames.rbegin(); f != frames.rend(); ++f) {
    nodes += f->end - f->next;
    if (!f->parts.empty()) break;
  }
  return static_cast<std::int64_t>(nodes) * how_.node_cost;
}

void core::push_event(unsigned which) {
  worker& w = workers_[which];
  w.pending = true;
  w.due_at = w.clock + until_join(w);
  world_.push_worker(number_, which, ++w.epoch, w.due_at);
}

/// Lets a worker act; returns whether something has changed.
bool core::act(unsigned which) {
  worker& w = workers_[which];
  if (w.stack.empty()) return feed(which, 0), !w.stack.empty();
  if (waits_for_data()) return false;
  const frame& f = w.stack.back().frames.back();
  const bool joins = f.next == f.end && (!f.parts.empty() || w.stack.back().frames.size() == 1);
  if (joins) return join(w);
  if (!w.pending) push_event(which);
  return false;
}

bool core::join(worker& w) {
  const auto which = static_cast<unsigned>(&w - workers_.data());
  execution& e = w.stack.back();
  frame& f = e.frames.back();
  if (f.parts.empty()) {
    finish(w);
    return true;
  }
  const std::uint64_t part = f.parts.back();
  piece& p = pieces_.at(part);
  switch (p.is) {
    case piece::state::done: {
      sated(which);
      w.awaited = 0;
      w.clock = world_.now();
      will_give(w.clock + how_.node_cost);
      w.pending = false;
      ++w.epoch;
      if (p.error != 0) {
        fail(w, p.error);
        return true;
      }
      e.result += p.result;
      erase(pieces_.find(part));
      f.parts.pop_back();
      if (f.parts.empty() && e.frames.size() > 1) e.pop();
      return true;
    }
    case piece::state::unclaimed:
      sated(which);
      run(w, part);
      return true;
    case piece::state::running:
    case piece::state::claimed:
    case piece::state::away: break;
  }
  return await(which, part);
}

/// Lets a worker that waits for a part run only what belongs to that part. Returns whether there
/// was such a piece.
bool core::await(unsigned which, std::uint64_t part) {
  worker& w = workers_[which];
  w.awaited = part;
  const std::size_t before = w.stack.size();
  feed(which, part);
  return w.stack.size() != before;
}

/// A piece is done: it goes back to whoever gave it. One that is waited for here stays.
void core::hand_back(std::uint64_t number, net::ending how) {
  const piece& p = pieces_.at(number);
  if (p.came_as != 0) {
    protocol_->finished(world_.now(), p.came_as, {how, encode_result(p)});
  } else if (number == root_) {
    world_.root_done(p);
    root_ = 0;
  } else {
    return;
  }
  erase(pieces_.find(number));
}

void core::finish(worker& w) {
  const execution e = w.stack.back();
  w.stack.pop_back();
  piece& p = pieces_.at(e.piece);
  p.result = e.result;
  const tally right = how_.exact ? tally_of(p.from, p.to) : tally{p.to - p.from, 0};
  if (p.result != right) world_.violation("a piece has a wrong result");
  p.is = piece::state::done;
  w.awaited = 0;
  hand_back(e.piece, net::ending::value);
}

/// The innermost piece ends with an error. What it gave away is abandoned.
void core::fail(worker& w, std::uint32_t error) {
  const execution e = w.stack.back();
  w.stack.pop_back();
  w.awaited = 0;
  abandon(e);
  piece& p = pieces_.at(e.piece);
  p.error = error;
  p.is = piece::state::done;
  hand_back(e.piece, net::ending::error);
  changed_ = true;
}

void core::abandon(const execution& e) {
  for (const frame& f : e.frames) {
    for (const std::uint64_t part : f.parts) drop(part);
  }
}

void core::drop(std::uint64_t part) {
  const auto at = pieces_.find(part);
  if (at == pieces_.end()) return;
  changed_ = true;
  if (at->second.is == piece::state::running) {
    at->second.stopped = stopping_ = true;  // the piece's worker sees this
    return;
  }
  const bool away = at->second.is == piece::state::away;
  erase(at);
  if (away) protocol_->cancelled(world_.now(), part);
}

void core::erase(std::map<std::uint64_t, piece>::iterator at) {
  unclaimed_.erase(at->first);
  if (at->second.came_as != 0) came_as_.erase(at->second.came_as);
  pieces_.erase(at);
}

/// Takes what is cancelled off the stack, and all above it.
bool core::unwind(worker& w) {
  const auto stopped = [&](const execution& e) {
    for (std::uint64_t id = e.piece; id != 0;) {
      const auto at = pieces_.find(id);
      if (at == pieces_.end()) return false;
      if (at->second.stopped) return true;
      id = at->second.parent;
    }
    return false;
  };
  const auto lowest = std::find_if(w.stack.begin(), w.stack.end(), stopped);
  if (lowest == w.stack.end()) return false;
  const auto keep = static_cast<std::size_t>(lowest - w.stack.begin());
  while (w.stack.size() > keep) {
    const execution e = w.stack.back();
    w.stack.pop_back();
    abandon(e);
    const piece p = pieces_.at(e.piece);
    erase(pieces_.find(e.piece));
    // The owner of the piece has not ended it, but whoever waits for it here: the piece is given
    // back, undone.
    if (p.came_as != 0 && !p.stopped)
      protocol_->finished(world_.now(), p.came_as, {net::ending::refused, {}});
  }
  w.awaited = 0;
  w.pending = false;
  ++w.epoch;
  w.clock = world_.now();
  sated(static_cast<unsigned>(&w - workers_.data()));
  return true;
}

void core::run(worker& w, std::uint64_t part) {
  piece& p = pieces_.at(part);
  p.is = piece::state::running;
  unclaimed_.erase(part);
  execution e;
  e.piece = part;
  e.frames.push_back({p.from, p.to, {}});
  w.stack.push_back(std::move(e));
  w.awaited = 0;
  w.clock = world_.now();
  will_give(w.clock + how_.node_cost);
  will_give(w.clock + how_.node_cost);
  w.pending = false;
  ++w.epoch;
  changed_ = true;
}

}  // namespace sim
