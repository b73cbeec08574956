#include "sim/core.hpp"

#include <algorithm>
#include <utility>

#include "net/wire.hpp"

namespace sim {
namespace {

net::bytes encode_input(const piece& p) {
  net::bytes out;
  net::writer w(out);
  w.number(p.from), w.number(p.to);
  return out;
}

net::bytes encode_result(const piece& p) {
  net::bytes out;
  net::writer w(out);
  w.number(p.result.nodes), w.fixed(p.result.sum), w.number(p.error);
  return out;
}

net::bytes encode_best(std::uint32_t best) {
  net::bytes out;
  net::writer(out).number(best);
  return out;
}

}  // namespace

core::core(surroundings& world, const tree& work, core_settings how, unsigned number,
           std::uint64_t seed)
    : world_(world),
      tree_(work),
      how_(how),
      number_(number),
      random_(seed),
      workers_(how.workers) {}

void core::start_root() {
  root_ = ++last_piece_;
  piece p;
  p.to = tree_.nodes();
  pieces_.emplace(root_, p);
  run(workers_.front(), root_);
}

// From the protocol.

void core::ask(unsigned slot, std::uint64_t wanted) {
  asked& a = slots_[slot];
  if (a.is != asked::state::free) world_.violation("a slot of core is asked for twice");
  if (wanted != 0 && scope_of(wanted) == 0)
    world_.violation("a part of a task that is not here is asked of core");
  a = {asked::state::waiting, wanted, 0, a.turn + 1};
  const auto wait = static_cast<std::size_t>(how_.poll_every.count());
  world_.plan_poll(number_, slot, a.turn, world_.now() + instant(random_.below(wait + 1)));
}

bool core::withdraw(unsigned slot) {
  asked& a = slots_[slot];
  if (a.is == asked::state::free) world_.violation("a free slot of core is withdrawn");
  if (a.is == asked::state::claimed) return false;
  a.is = asked::state::free;
  ++a.turn;
  return true;
}

bool core::start(net::asker who, const net::traveller& task) {
  worker& w = workers_[who];
  if (!w.asking) return false;
  net::reader in(task.input);
  piece p;
  p.from = static_cast<std::uint32_t>(in.number());
  p.to = static_cast<std::uint32_t>(in.number());
  p.depth = task.depth;
  p.came_as = task.id;
  if (w.wanted != 0) {
    const auto awaited = pieces_.find(w.wanted);
    if (awaited == pieces_.end() || p.from < awaited->second.from || p.to > awaited->second.to)
      world_.violation("a waiting worker gets a task that is no part of what it waits for");
    p.parent = w.wanted;
  } else if (!w.stack.empty()) {
    world_.violation("a worker that waits gets any task");
  }
  w.asking = false;  // the protocol knows
  const std::uint64_t id = ++last_piece_;
  pieces_.emplace(id, p);
  ++started_;
  run(w, id);
  return true;
}

void core::complete(std::uint64_t task, const net::outcome& end) {
  const auto at = pieces_.find(task);
  if (at == pieces_.end() || at->second.is != piece::state::away)
    return world_.violation("a result is merged that nobody waits for");
  piece& p = at->second;
  net::reader in(end.result);
  p.result.nodes = in.number();
  p.result.sum = in.fixed();
  p.error = static_cast<std::uint32_t>(in.number());
  if (end.how == net::ending::value && how_.exact && p.result != tally_of(p.from, p.to))
    world_.violation("a wrong result is merged");
  p.is = piece::state::done;
  changed_ = true;
}

void core::again(std::uint64_t task) {
  const auto at = pieces_.find(task);
  if (at == pieces_.end() || at->second.is != piece::state::away)
    return world_.violation("a task is to be run again that is not away");
  at->second.is = piece::state::unclaimed;
  changed_ = true;
}

void core::cancel(std::uint64_t task) {
  const std::uint64_t id = scope_of(task);
  if (id == 0) return;
  pieces_.at(id).stopped = true;
  changed_ = true;
}

net::load core::state() const {
  net::load l{how_.workers, 0, 1000};
  for (const worker& w : workers_) {
    if (w.stack.empty()) continue;
    ++l.busy;
    l.depth =
        std::min(l.depth, static_cast<std::uint32_t>(pieces_.at(w.stack.front().piece).depth));
  }
  for (const auto& [id, p] : pieces_) {
    if (p.is != piece::state::unclaimed) continue;
    ++l.busy;
    l.depth = std::min(l.depth, static_cast<std::uint32_t>(p.depth));
  }
  return l;
}

net::bytes core::shared() const { return encode_best(best_); }

void core::merge(std::span<const std::byte> values) {
  if (values.empty()) return;
  const auto value = static_cast<std::uint32_t>(net::reader(values).number());
  if (value > best_) best_ = told_ = value;
}

std::optional<net::bytes> core::publication(std::uint64_t id) const {
  if (id != 1) return std::nullopt;
  return net::bytes(1000, std::byte{42});
}

void core::fetched(net::address, std::uint64_t id, std::optional<net::bytes> contents) {
  if (has_data_) return world_.violation("published data come twice");
  has_data_ = contents == publication(id);
  if (contents && !has_data_) world_.violation("published data are not what was published");
  fetch_again_ = !has_data_;
}

void core::fetch(net::address publisher) {
  publisher_ = publisher;
  protocol_->fetch_from(world_.now(), publisher, 1);
}

// From the world.

void core::worker_event(unsigned which, std::uint64_t turn) {
  worker& w = workers_[which];
  if (w.turn != turn) return;
  w.planned = false;
  changed_ = true;
  advance(w);
}

void core::poll_event(unsigned slot, std::uint64_t turn) {
  asked& a = slots_[slot];
  if (a.turn != turn || a.is != asked::state::waiting) return;
  const std::uint64_t scope = a.wanted == 0 ? 0 : scope_of(a.wanted);
  std::uint64_t part = 0;
  if (a.wanted == 0 || scope != 0) {
    part = find_unclaimed(scope);
    if (part == 0) part = split(scope, nullptr);
  }
  if (part == 0) return world_.plan_poll(number_, slot, turn, world_.now() + how_.poll_every);
  pieces_.at(part).is = piece::state::claimed;
  a.is = asked::state::claimed;
  a.task = part;
  const instant delay = how_.exact ? instant(random_.below(2) * random_.below(2000)) : instant(2);
  world_.plan_answer(number_, slot, turn, world_.now() + delay);
}

void core::answer_event(unsigned slot, std::uint64_t turn) {
  asked& a = slots_[slot];
  if (a.turn != turn || a.is != asked::state::claimed) return;
  a.is = asked::state::free;
  const auto at = pieces_.find(a.task);
  // Cancelled meanwhile.
  if (at == pieces_.end()) return protocol_->unanswered(world_.now(), slot);
  piece& p = at->second;
  p.is = piece::state::away;
  protocol_->answered(world_.now(), slot, {a.task, 1, p.depth, encode_input(p)});
}

void core::settle() {
  do {
    changed_ = false;
    for (worker& w : workers_) {
      if (unwind(w)) changed_ = true;
    }
    for (unsigned i = 0; i < workers_.size(); ++i) {
      while (act(i)) changed_ = true;
    }
  } while (changed_);
  if (std::exchange(fetch_again_, false)) protocol_->fetch_from(world_.now(), publisher_, 1);
  if (best_ > told_) {
    told_ = best_;
    protocol_->improved(world_.now(), encode_best(best_));
  }
}

bool core::idle() const {
  return pieces_.empty() && std::all_of(workers_.begin(), workers_.end(),
                                        [](const worker& w) { return w.stack.empty(); });
}

std::string core::stack_fault() const {
  for (const worker& w : workers_) {
    std::size_t frames = 0;
    for (const execution& e : w.stack) frames += e.frames.size();
    if (frames > tree_.height + tree_.repeats) {
      return "a stack of " + std::to_string(frames) + " frames, more than " +
             std::to_string(tree_.height + tree_.repeats);
    }
  }
  return {};
}

// The work itself.

void core::advance(worker& w) {
  const instant now = world_.now();
  if (w.stack.empty() || w.awaited != 0) return;
  auto n = static_cast<std::uint64_t>((now - w.clock) / how_.node_cost);
  busy_ += static_cast<std::int64_t>(n) * how_.node_cost;
  w.clock += static_cast<std::int64_t>(n) * how_.node_cost;
  const std::uint64_t piece_id = w.stack.back().piece;
  for (;;) {
    // A failed visit has taken the execution off the stack.
    if (w.stack.empty() || w.stack.back().piece != piece_id) return;
    execution& e = w.stack.back();
    frame& f = e.frames.back();
    if (f.next == f.end) {
      if (!f.parts.empty() || e.frames.size() == 1) return;
      e.frames.pop_back();
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
      e.result.nodes += size;
      continue;
    }
    --n;
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

/// How long it works on before it meets a join that has something to wait for, or the end.
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

void core::plan(unsigned which) {
  worker& w = workers_[which];
  w.planned = true;
  world_.plan_worker(number_, which, ++w.turn, w.clock + until_join(w));
}

/// Whether something has changed.
bool core::act(unsigned which) {
  worker& w = workers_[which];
  if (w.stack.empty()) return feed(which, 0), !w.stack.empty();
  const frame& f = w.stack.back().frames.back();
  const bool joins = f.next == f.end && (!f.parts.empty() || w.stack.back().frames.size() == 1);
  if (joins) return join(w);
  if (!w.planned) plan(which);
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
      w.planned = false;
      ++w.turn;
      if (p.error != 0) {
        fail(w, p.error);
        return true;
      }
      e.result += p.result;
      pieces_.erase(part);
      f.parts.pop_back();
      if (f.parts.empty() && e.frames.size() > 1) e.frames.pop_back();
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

/// Runs only what is a part of the one that it waits for. Returns whether there was such a part.
bool core::await(unsigned which, std::uint64_t part) {
  worker& w = workers_[which];
  w.awaited = part;
  const std::size_t before = w.stack.size();
  feed(which, part);
  return w.stack.size() != before;
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
  if (p.came_as != 0) {
    protocol_->finished(world_.now(), p.came_as, {net::ending::value, encode_result(p)});
    pieces_.erase(e.piece);
  } else if (e.piece == root_) {
    world_.root_done(p);
    pieces_.erase(e.piece);
    root_ = 0;
  }
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
  if (p.came_as != 0) {
    protocol_->finished(world_.now(), p.came_as, {net::ending::error, encode_result(p)});
    pieces_.erase(e.piece);
  } else if (e.piece == root_) {
    world_.root_done(p);
    pieces_.erase(e.piece);
    root_ = 0;
  }
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
    at->second.stopped = true;  // its worker sees it
    return;
  }
  const bool away = at->second.is == piece::state::away;
  pieces_.erase(at);
  if (away) protocol_->cancelled(world_.now(), part);
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
    pieces_.erase(e.piece);
    // Not its owner, but who waits for it here has ended it: it is given back, undone.
    if (p.came_as != 0 && !p.stopped)
      protocol_->finished(world_.now(), p.came_as, {net::ending::refused, {}});
  }
  w.awaited = 0;
  w.planned = false;
  ++w.turn;
  w.clock = world_.now();
  sated(static_cast<unsigned>(&w - workers_.data()));
  return true;
}

void core::run(worker& w, std::uint64_t part) {
  piece& p = pieces_.at(part);
  p.is = piece::state::running;
  execution e;
  e.piece = part;
  e.frames.push_back({p.from, p.to, {}});
  w.stack.push_back(std::move(e));
  w.awaited = 0;
  w.clock = world_.now();
  w.planned = false;
  ++w.turn;
  changed_ = true;
}

// Division.

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
  for (const auto& [id, p] : pieces_) {
    if (p.is == piece::state::unclaimed && within(id, scope)) return id;
  }
  return 0;
}

std::uint64_t core::away_below(std::uint64_t scope) const {
  for (const auto& [id, p] : pieces_) {
    if (p.is == piece::state::away && within(id, scope)) return id;
  }
  return 0;
}

std::uint64_t core::scope_of(std::uint64_t came_as) const {
  for (const auto& [id, p] : pieces_) {
    if (p.came_as == came_as) return id;
  }
  return 0;
}

/// The oldest frame with something to give. From the scope's root inward, everything on the stack
/// is a part of it.
core::place core::oldest(worker& w, std::uint64_t scope) {
  for (execution& e : w.stack) {
    if (!e.begun || !within(e.piece, scope) || pieces_.at(e.piece).stopped) continue;
    for (frame& f : e.frames) {
      if (f.next != f.end) return {&e, &f};
    }
  }
  return {};
}

/// A part of the scope, split by one of the workers; 0 if none has anything.
std::uint64_t core::split(std::uint64_t scope, const worker* not_from) {
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
  return 0;
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
    world_.plan_worker(number_, which, ++w.turn, world_.now() + 5 * how_.poll_every);
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
