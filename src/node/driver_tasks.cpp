#include "node/driver.hpp"

#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

// What a driver moves between core and the protocol: tasks, results, and who starves.
namespace cleave::net {
namespace {

net::outcome failure(const std::exception_ptr& e) {
  outcome end{ending::error, {}};
  detail::byte_writer w(end.result);
  detail::put_failure(e, w);
  return end;
}

}  // namespace

/// Of a task that ran here.
outcome driver::outcome_of(detail::task& t) const noexcept {
  try {
    outcome end{t.error ? ending::error : ending::value, {}};
    detail::byte_writer w(end.result);
    detail::put_outcome(t, *t.wire, w);
    check_length(end.result, "a result");
    return end;
  } catch (...) { return failure(std::current_exception()); }  // its result could not be written
}

/// Throws std::length_error for what the transport would drop.
void driver::check_length(const bytes& contents, const char* of_what) const {
  const std::size_t most = carries_->longest_message(), around = most / 16;
  if (contents.size() > most - around)
    throw std::length_error(
        std::string("cleave: ") + of_what + " of " + std::to_string(contents.size()) +
        " bytes: this transport carries fewer than " + std::to_string(most - around));
}

/// Of a message that would be dropped. A task without its bounds takes longer; but what was found
/// under one is nothing without it.
void driver::leave_shared_out(message& m) const {
  bytes none;
  detail::byte_writer(none).put_block([] {});
  if (auto* const given = std::get_if<task>(&m.body)) given->shared = none;
  auto* const result = std::get_if<rslt>(&m.body);
  if (result == nullptr) return;
  const std::length_error why("cleave: a result of " + std::to_string(result->result.size()) +
                              " bytes with shared values of " +
                              std::to_string(result->shared.size()) + ": this transport carries " +
                              std::to_string(carries_->longest_message()));
  *result = {result->key, ending::error, failure(std::make_exception_ptr(why)).result, none};
}

// ---- from core to the protocol

traveller driver::describe(std::uint64_t id, detail::task& t) const {
  traveller who{id, t.wire->id(), t.generation, {}};
  detail::byte_writer w(who.input);
  w.put<std::uint64_t>(t.depth);
  w.put(records_);
  if (records_) {
    w.put<std::uint64_t>(t.ticks);
    w.put<std::uint32_t>(t.owner != nullptr ? t.owner->id : 0);
    w.put<std::uint32_t>(static_cast<std::uint32_t>(self_.self) + 1);
  }
  t.wire->put_input(t, w);
  check_length(who.input, "a task's input");
  return who;
}

bool driver::tell_given(instant at) {
  bool any = false;
  proxy::gift g;
  while (core_->next_given(g)) {
    any = true;
    if (g.given == nullptr) {
      protocol_->unanswered(at, g.slot);
      continue;
    }
    // It is half of what the parts that went out of the same task before it had left.
    g.given->generation +=
        static_cast<std::uint32_t>(std::count_if(out_.begin(), out_.end(), [&](const auto& one) {
          return one.second->parent == g.given->parent;
        }));
    const std::uint64_t id = ++last_out_;
    out_[id] = g.given;
    tell_answer(at, g.slot, {id, 0});
  }
  return any;
}

/// Answers the slot with a task that is out, and that nobody runs.
void driver::tell_answer(instant at, unsigned slot, returned what) {
  const auto entry = out_.find(what.id);
  if (entry == out_.end()) return protocol_->unanswered(at, slot);  // it was cancelled meanwhile
  traveller who;
  try {
    who = describe(what.id, *entry->second);
    who.losses = what.losses;
  } catch (...) {  // its input could not be written
    end_here(entry, std::current_exception());
    return protocol_->unanswered(at, slot);
  }
  protocol_->answered(at, slot, who);
}

/// Ends a task that is out without a result: its owner goes on, and then it may be gone.
void driver::end_here(std::map<std::uint64_t, detail::task*>::iterator entry,
                      std::exception_ptr error) {
  detail::task& t = *entry->second;
  std::erase(returned_, entry->first);
  out_.erase(entry);
  t.error = std::move(error);
  core_->complete(t);
}

void driver::tell_finished(instant at) {
  while (const auto t = core_->next_finished()) {
    if (tell_end_of_team(*t)) continue;
    const auto entry = std::find_if(in_.begin(), in_.end(),
                                    [&](const auto& one) { return one.second == t.get(); });
    assert(entry != in_.end());
    const std::uint64_t id = entry->first;
    in_.erase(entry);
    // Nobody can serve them any more; and another task may come to be where this one is.
    for (unsigned slot = 0; slot < slot_count; ++slot)
      if (core_->asks_for_part_of(slot, *t) && core_->withdraw(slot))
        protocol_->unanswered(at, slot);
    protocol_->finished(at, id, outcome_of(*t));
    forgets_ = true;
  }
  if (in_.empty() && std::exchange(forgets_, false)) forget_values();
}

/// Whoever gave it away is not kept waiting for the network to be allowed to unwind.
void driver::tell_cancelled(instant at) {
  for (auto entry = out_.begin(); entry != out_.end();) {
    if (!proxy::is_cancelled(*entry->second)) {
      ++entry;
      continue;
    }
    protocol_->cancelled(at, entry->first);
    end_here(entry++, std::make_exception_ptr(detail::cancelled{}));
  }
}

/// A task that is out and that `who` waits for, itself or through others; 0: none. Looks only at
/// those that went out since it looked last. One that it found is still right while it is out, and
/// parts of another scope at the same place went out later.
std::uint64_t driver::part_of(const proxy::starving& who) {
  const auto is_away = [this](std::uint64_t id) {
    return out_.count(id) != 0 &&
           std::find(returned_.begin(), returned_.end(), id) == returned_.end();
  };
  part_found& last = parts_found_[who.worker];
  if (last.seen != who.seen || (last.id != 0 && !is_away(last.id))) last = {who.seen, 0, 0};
  if (last.id != 0) return last.id;
  for (auto entry = out_.upper_bound(last.up_to); entry != out_.end(); ++entry) {
    if (!is_away(entry->first)) continue;
    for (const detail::scope* s = entry->second; s != nullptr; s = s->parent) {
      if (s == who.wanted) return last.id = entry->first;
    }
  }
  last.up_to = last_out_;
  return 0;
}

/// A task that nobody runs is run by whoever waits for it, or has nothing to do.
bool driver::give_back_here(const proxy::starving& who) {
  for (const returned one : returned_) {
    const std::uint64_t id = one.id;
    detail::task& t = *out_.at(id);
    bool suits = who.wanted == nullptr || who.wanted == &t;
    for (const detail::scope* s = t.parent; s != nullptr && !suits; s = s->parent)
      suits = s == who.wanted;
    if (!suits) continue;
    // Once fed it can be done, and gone.
    std::erase(returned_, id);
    out_.erase(id);
    if (core_->feed(who, t)) return true;
    returned_.push_back(one);
    out_[id] = &t;
    return false;
  }
  return false;
}

void driver::tell_starving(instant at) {
  starving_ = core_->look_for_starving();
  std::map<unsigned, std::pair<detail::request, std::uint64_t>> now_told;
  for (const auto& who : starving_) {
    if (give_back_here(who)) continue;
    const std::uint64_t id = who.wanted == nullptr ? 0 : part_of(who);
    if (who.wanted != nullptr && id == 0) continue;  // what it waits for is computed here
    now_told[who.worker] = {who.seen, id};
  }
  for (const auto& [worker, what] : told_) {
    const auto still = now_told.find(worker);
    if (still == now_told.end() || still->second != what) protocol_->satisfied(at, worker);
  }
  const auto before = std::exchange(told_, std::move(now_told));
  for (const auto& [worker, what] : told_) {
    const auto known = before.find(worker);
    if (known == before.end() || known->second != what)
      protocol_->starving(at, worker, what.second);
  }
}

// ---- from the protocol to core

/// Of those that nobody runs. What was lost too often is run here, by who waits for it or has
/// nothing to do, and others get parts of it.
std::deque<driver::returned>::const_iterator driver::first_to_give_again() const {
  return std::find_if(returned_.begin(), returned_.end(),
                      [](const returned& one) { return one.losses < losses_to_stay; });
}

void driver::ask(unsigned slot, std::uint64_t wanted) {
  const auto back = wanted == 0 ? first_to_give_again() : returned_.end();
  if (back != returned_.end()) {
    auto entry = out_.extract(back->id);
    const returned what{entry.key() = ++last_out_, back->losses};
    out_.insert(std::move(entry));
    returned_.erase(back);
    events_.push_back([this, slot, what](instant at) { tell_answer(at, slot, what); });
    return;
  }
  const auto within = in_.find(wanted);
  if (wanted != 0 && within == in_.end()) {
    events_.push_back([this, slot](instant at) { protocol_->unanswered(at, slot); });
    return;
  }
  core_->ask(slot, wanted == 0 ? nullptr : within->second);
  if (asked_at_ == instant::max()) asked_at_ = now();
}

bool driver::withdraw(unsigned slot) { return core_->is_asking(slot) && core_->withdraw(slot); }

/// One that came from another node. Throws malformed, and what the user's types throw.
std::unique_ptr<detail::task> driver::make_task(std::uint64_t type, detail::byte_reader& input) {
  const detail::wire_type* known = detail::find_wire_type(type);
  if (known == nullptr) throw detail::malformed("a task of a type that this program does not have");
  auto t = known->make(input);
  t->wire = known, t->is_kept = detail::task::kept::by_proxy;
  return t;
}

bool driver::start(asker who, const traveller& arrived) {
  const auto starves = std::find_if(starving_.begin(), starving_.end(),
                                    [&](const auto& s) { return s.worker == who; });
  if (starves == starving_.end()) return false;
  std::unique_ptr<detail::task> t;
  try {
    detail::byte_reader r(arrived.input);
    const auto depth = r.get<std::uint64_t>();
    const bool recorded = r.get<bool>();
    const std::uint64_t ticks = recorded ? r.get<std::uint64_t>() : 0;
    const std::uint32_t made_by = recorded ? r.get<std::uint32_t>() : 0;
    const std::uint32_t made_at = recorded ? r.get<std::uint32_t>() : 0;
    t = make_task(arrived.type, r);
    t->depth = depth;
    t->ticks = ticks, t->made_by = made_by, t->made_at = made_at;
  } catch (...) {
    told_.erase(static_cast<unsigned>(who));  // it starves on, and is to be told again
    events_.push_back([this, id = arrived.id, end = failure(std::current_exception())](instant at) {
      protocol_->finished(at, id, end);
    });
    return true;
  }
  t->generation = static_cast<std::uint32_t>(arrived.depth);
  in_[arrived.id] = t.get();
  if (!core_->feed(*starves, *t)) {
    in_.erase(arrived.id);
    return false;
  }
  static_cast<void>(t.release());  // it is the pool's
  ++tasks_in_;
  told_.erase(static_cast<unsigned>(who));
  starving_.erase(starves);
  return true;
}

void driver::complete(std::uint64_t id, const outcome& end) {
  const auto entry = out_.find(id);
  if (entry == out_.end()) return;  // it was cancelled meanwhile
  detail::task& t = *entry->second;
  out_.erase(entry);
  // Who waited for it may come to wait for another one in its place, before it is looked at again.
  std::erase_if(starving_, [&](const auto& who) { return who.wanted == &t; });
  try {
    detail::byte_reader r(end.result);
    detail::get_outcome(t, *t.wire, r);
  } catch (...) { t.error = std::current_exception(); }
  core_->complete(t);
}

void driver::again(std::uint64_t id, unsigned losses) {
  if (out_.count(id) == 0) return;
  returned_.push_back({id, losses});
  restless_ = true;
}

void driver::cancel(std::uint64_t id) {
  if (const auto entry = in_.find(id); entry != in_.end()) core_->cancel(*entry->second);
}

load driver::state() const {
  load l{core_->workers(), core_->computing(), 0};
  // There is something to have.
  if (first_to_give_again() != returned_.end()) l.busy = std::max(l.busy, 1u);
  if (carries_->self() == 0) return l;
  l.depth = ~0u;
  for (const auto& [id, t] : in_) l.depth = std::min(l.depth, t->generation);
  return l;
}

}  // namespace cleave::net
