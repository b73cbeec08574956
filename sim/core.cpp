#include "sim/core.hpp"

#include <algorithm>
#include <utility>

#include "protocol/encoding.hpp"

namespace sim {
namespace {

net::bytes encode_input(const piece& p) {
  net::bytes out;
  net::writer w(out);
  w.number(p.from), w.number(p.to);
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

// The protocol calls the functions that follow.

void core::ask(unsigned slot, std::uint64_t wanted) {
  asked& a = slots_[slot];
  if (a.is != asked::state::free) world_.violation("a slot of core is asked for twice");
  if (wanted != 0 && scope_of(wanted) == 0)
    world_.violation("a part of a task that is not here is asked of core");
  a = {asked::state::waiting, wanted, 0, a.epoch + 1};
  const auto wait = static_cast<std::size_t>(how_.poll_every.count());
  world_.push_poll(number_, slot, a.epoch, world_.now() + instant(random_.below(wait + 1)));
}

bool core::withdraw(unsigned slot) {
  asked& a = slots_[slot];
  if (a.is == asked::state::free) world_.violation("a free slot of core is withdrawn");
  if (a.is == asked::state::claimed) return false;
  a.is = asked::state::free;
  ++a.epoch;
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
  came_as_.emplace(task.id, id);
  ++started_;
  run(w, id);
  if (how_.published != 0 && number_ != 0 && publisher_ == no_publisher)
    publisher_ = 0, fetch_again_ = true;
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

void core::again(std::uint64_t task, unsigned losses) {
  const auto at = pieces_.find(task);
  if (at == pieces_.end() || at->second.is != piece::state::away)
    return world_.violation("a task is to be run again that is not away");
  at->second.is = piece::state::unclaimed;
  at->second.losses = losses;
  unclaimed_.insert(task);
  changed_ = true;
}

void core::cancel(std::uint64_t task) {
  const std::uint64_t id = scope_of(task);
  if (id == 0) return;
  pieces_.at(id).stopped = stopping_ = changed_ = true;
}

net::load core::state() const {
  net::load l{how_.workers, 0, 1000};
  for (const worker& w : workers_) {
    if (w.stack.empty()) continue;
    ++l.busy;
    l.depth =
        std::min(l.depth, static_cast<std::uint32_t>(pieces_.at(w.stack.front().piece).depth));
  }
  for (const std::uint64_t id : unclaimed_) {
    ++l.busy;
    l.depth = std::min(l.depth, static_cast<std::uint32_t>(pieces_.at(id).depth));
  }
  return l;
}

net::bytes core::shared() const { return encode_best(best_); }

net::bytes core::merge(std::span<const std::byte> values, bool) {
  if (values.empty()) return {};
  const auto value = static_cast<std::uint32_t>(net::reader(values).number());
  best_ = std::max(best_, value);
  told_ = std::max(told_, value);  // the others hear of a value from the node that found it
  return {};
}

std::optional<net::bytes> core::publication(std::uint64_t id) const {
  if (id != 1) return std::nullopt;
  net::bytes contents(how_.published != 0 ? how_.published : 1000);
  for (std::size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<std::byte>(i * i / 7);
  return contents;
}

void core::fetched(net::address, std::uint64_t id, std::optional<net::bytes> contents) {
  if (has_data_) return world_.violation("published data come twice");
  has_data_ = contents == publication(id);
  if (contents && !has_data_) world_.violation("published data are not what was published");
  fetch_again_ = !has_data_;
  if (!has_data_ || how_.published == 0) return;
  for (worker& w : workers_) w.clock = world_.now();
  changed_ = true;
}

void core::fetch(net::address publisher) {
  publisher_ = publisher;
  protocol_->fetch_from(world_.now(), publisher, 1);
}

// The world calls the functions that follow.

void core::worker_event(unsigned which, std::uint64_t epoch) {
  worker& w = workers_[which];
  if (w.epoch != epoch) return;
  w.pending = false;
  w.look_at = instant(-1);
  if (w.stack.empty() || w.awaited != 0) {
    // The worker only looks again for something to do.
    changed_ = changed_ || how_.exact;
    return;
  }
  changed_ = true;
  advance(w);
}

void core::poll_event(unsigned slot, std::uint64_t epoch) {
  asked& a = slots_[slot];
  if (a.epoch != epoch || a.is != asked::state::waiting) return;
  const std::uint64_t scope = a.wanted == 0 ? 0 : scope_of(a.wanted);
  std::uint64_t part = 0;
  if (a.wanted == 0 || scope != 0) {
    part = find_unclaimed(scope, net::losses_to_stay);
    if (part == 0 && world_.now() >= barren_until_) part = split(scope, nullptr);
  }
  if (part == 0) {
    instant next = world_.now() + how_.poll_every;
    // Asking more often would bring nothing, and take long.
    if (!how_.exact) {
      next =
          std::max(next, std::min(next_gift(scope, nullptr), world_.now() + 5 * how_.poll_every));
    }
    return world_.push_poll(number_, slot, epoch, next);
  }
  pieces_.at(part).is = piece::state::claimed;
  unclaimed_.erase(part);
  a.is = asked::state::claimed;
  a.task = part;
  const bool slow = how_.exact && random_.below(2) != 0;
  const instant delay = slow ? instant(random_.below(2000)) : instant(2);
  world_.push_answer(number_, slot, epoch, world_.now() + delay);
}

void core::answer_event(unsigned slot, std::uint64_t epoch) {
  asked& a = slots_[slot];
  if (a.epoch != epoch || a.is != asked::state::claimed) return;
  a.is = asked::state::free;
  const auto at = pieces_.find(a.task);
  // The piece was cancelled meanwhile.
  if (at == pieces_.end()) return protocol_->unanswered(world_.now(), slot);
  piece& p = at->second;
  p.is = piece::state::away;
  protocol_->answered(world_.now(), slot, {a.task, 1, p.depth, encode_input(p), p.losses});
}

/// Whether there is nothing to do for a worker until its next event, if nothing changes.
bool core::rests(const worker& w) const {
  const bool computes = !w.stack.empty() && w.awaited == 0;
  return computes ? w.pending : world_.now() < w.look_at;
}

void core::settle() {
  do {
    if (std::exchange(changed_, false)) {
      for (worker& w : workers_) w.look_at = instant(-1);
    }
    // What one worker takes off its stack can be above the pieces of another that was looked at
    // before.
    while (std::exchange(stopping_, false)) {
      for (worker& w : workers_) {
        if (unwind(w)) changed_ = stopping_ = true;
      }
    }
    for (unsigned i = 0; i < workers_.size(); ++i) {
      if (!changed_ && rests(workers_[i])) continue;
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

}  // namespace sim
