#include "node/courier.hpp"

#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace cleave::net {
namespace {

/// A request of another node waits so long for a worker in what it would run undivided.
constexpr instant patience{100};

}  // namespace

courier::courier(other_nodes& core, outlet& out, value_exchange& values, gathered_port& gathered,
                 const settings& how, std::function<void()> fetched, bool records)
    : core_(core),
      net_(out),
      values_(values),
      fetched_(std::move(fetched)),
      records_(records),
      protocol_(out.self(), how, *this, gathered, out) {}

void courier::tell_events(instant at) {
  while (!events_.empty()) {
    for (auto& event : std::exchange(events_, {})) event(at);
  }
}

void courier::insist(instant at) {
  if (at < insists_at()) return;
  asked_at_ = instant::max();
  core_.insist();
}

instant courier::insists_at() const {
  return asked_at_ == instant::max() ? instant::max() : asked_at_ + patience;
}

void courier::end() {
  // Only duplicates can be left, and what nobody waits for. Parts of these tasks may be out.
  for (const auto& [id, t] : in_.all) core_.cancel(*t);
  while (!out_.all.empty())
    end_here(out_.all.begin(), std::make_exception_ptr(detail::cancelled{}));
}

/// The outcome of a task that ran here.
outcome courier::outcome_of(detail::task& t) const noexcept {
  try {
    outcome end{t.error ? ending::error : ending::value, {}};
    detail::byte_writer w(end.result);
    detail::put_outcome(t, *t.wire, w);
    net_.check_length(end.result, "a result");
    return end;
  } catch (...) { return failure(std::current_exception()); }  // its result could not be written
}

// ---- from core to the protocol

traveller courier::describe(std::uint64_t id, detail::task& t) const {
  traveller who{id, t.wire->id(), t.generation, {}};
  detail::byte_writer w(who.input);
  w.put<std::uint64_t>(t.depth);
  w.put(records_);
  if (records_) {
    w.put<std::uint64_t>(t.ticks);
    w.put<std::uint32_t>(t.owner != nullptr ? t.owner->id : 0);
    w.put<std::uint32_t>(static_cast<std::uint32_t>(net_.self().self) + 1);
  }
  t.wire->put_input(t, w);
  net_.check_length(who.input, "a task's input");
  return who;
}

bool courier::tell_given(instant at, const std::function<void()>& before) {
  bool any = false;
  other_nodes::gift g;
  while (core_.next_given(g)) {
    any = true;
    if (g.given == nullptr) {
      protocol_.unanswered(at, g.slot);
      continue;
    }
    before();
    // The part is half of what earlier parts of the same task, which are out, had left.
    g.given->generation += static_cast<std::uint32_t>(
        std::count_if(out_.all.begin(), out_.all.end(),
                      [&](const auto& one) { return one.second->parent == g.given->parent; }));
    const std::uint64_t id = ++out_.last;
    out_.all[id] = g.given;
    tell_answer(at, g.slot, {id, 0});
  }
  return any;
}

/// Answers the slot with a task that is out, and that nobody runs.
void courier::tell_answer(instant at, unsigned slot, returned what) {
  const auto entry = out_.all.find(what.id);
  if (entry == out_.all.end()) return protocol_.unanswered(at, slot);  // cancelled meanwhile
  traveller who;
  try {
    who = describe(what.id, *entry->second);
    who.losses = what.losses;
  } catch (...) {  // its input could not be written
    end_here(entry, std::current_exception());
    return protocol_.unanswered(at, slot);
  }
  protocol_.answered(at, slot, who);
}

/// Ends a task that is out without a result: its owner goes on, and then it may be gone.
void courier::end_here(tasks::iterator entry, std::exception_ptr error) {
  detail::task& t = *entry->second;
  std::erase(out_.back, entry->first);
  out_.all.erase(entry);
  t.error = std::move(error);
  core_.complete(t);
}

void courier::tell_finished(instant at, detail::task& t) {
  const auto entry = std::find_if(in_.all.begin(), in_.all.end(),
                                  [&](const auto& one) { return one.second == &t; });
  assert(entry != in_.all.end());
  const std::uint64_t id = entry->first;
  in_.all.erase(entry);
  // Nobody can serve requests for its parts any more; and another task may come to be where this
  // one is.
  for (unsigned slot = 0; slot < slot_count; ++slot)
    if (core_.asks_for_part_of(slot, t) && core_.withdraw(slot)) protocol_.unanswered(at, slot);
  protocol_.finished(at, id, outcome_of(t));
  in_.ended = true;
}

void courier::tell_cancelled(instant at) {
  for (auto entry = out_.all.begin(); entry != out_.all.end();) {
    if (!other_nodes::is_cancelled(*entry->second)) {
      ++entry;
      continue;
    }
    protocol_.cancelled(at, entry->first);
    end_here(entry++, std::make_exception_ptr(detail::cancelled{}));
  }
}

/// The number of a task that is out and that `who` waits for, itself or through others; 0: none.
/// Looks only at those that went out since it looked last. One that it found is still right while
/// it is out, and parts of another scope at the same place went out later.
std::uint64_t courier::part_of(const other_nodes::starving& who) {
  const auto is_away = [this](std::uint64_t id) {
    return out_.all.count(id) != 0 &&
           std::find(out_.back.begin(), out_.back.end(), id) == out_.back.end();
  };
  part_found& last = hunger_.parts_found[who.worker];
  if (last.seen != who.seen || (last.id != 0 && !is_away(last.id))) last = {who.seen, 0, 0};
  if (last.id != 0) return last.id;
  for (auto entry = out_.all.upper_bound(last.up_to); entry != out_.all.end(); ++entry) {
    if (!is_away(entry->first)) continue;
    for (const detail::scope* s = entry->second; s != nullptr; s = s->parent) {
      if (s == who.wanted) return last.id = entry->first;
    }
  }
  last.up_to = out_.last;
  return 0;
}

/// A task that nobody runs is run by whoever waits for it, or has nothing to do.
bool courier::give_back_here(const other_nodes::starving& who) {
  for (const returned one : out_.back) {
    const std::uint64_t id = one.id;
    detail::task& t = *out_.all.at(id);
    bool suits = who.wanted == nullptr || who.wanted == &t;
    for (const detail::scope* s = t.parent; s != nullptr && !suits; s = s->parent)
      suits = s == who.wanted;
    if (!suits) continue;
    // Once fed it can be done, and gone.
    std::erase(out_.back, id);
    out_.all.erase(id);
    if (core_.feed(who, t)) return true;
    out_.back.push_back(one);
    out_.all[id] = &t;
    return false;
  }
  return false;
}

void courier::tell_starving(instant at) {
  hunger_.seen = core_.look_for_starving();
  std::map<unsigned, std::pair<detail::request, std::uint64_t>> now_told;
  for (const auto& who : hunger_.seen) {
    if (give_back_here(who)) continue;
    const std::uint64_t id = who.wanted == nullptr ? 0 : part_of(who);
    if (who.wanted != nullptr && id == 0) continue;  // what it waits for is computed here
    now_told[who.worker] = {who.seen, id};
  }
  for (const auto& [worker, what] : hunger_.told) {
    const auto still = now_told.find(worker);
    if (still == now_told.end() || still->second != what) protocol_.satisfied(at, worker);
  }
  const auto before = std::exchange(hunger_.told, std::move(now_told));
  for (const auto& [worker, what] : hunger_.told) {
    const auto known = before.find(worker);
    if (known == before.end() || known->second != what) protocol_.starving(at, worker, what.second);
  }
}

// ---- from the protocol to core

/// The first task that nobody runs and that may go out again. A task that was lost too often is run
/// here, by the worker that waits for it or has nothing to do, and others get parts of it.
std::deque<courier::returned>::const_iterator courier::first_to_give_again() const {
  return std::find_if(out_.back.begin(), out_.back.end(),
                      [](const returned& one) { return one.losses < losses_to_stay; });
}

void courier::ask(unsigned slot, std::uint64_t wanted) {
  const auto back = wanted == 0 ? first_to_give_again() : out_.back.end();
  if (back != out_.back.end()) {
    auto entry = out_.all.extract(back->id);
    const returned what{entry.key() = ++out_.last, back->losses};
    out_.all.insert(std::move(entry));
    out_.back.erase(back);
    events_.push_back([this, slot, what](instant at) { tell_answer(at, slot, what); });
    return;
  }
  const auto within = in_.all.find(wanted);
  if (wanted != 0 && within == in_.all.end()) {
    events_.push_back([this, slot](instant at) { protocol_.unanswered(at, slot); });
    return;
  }
  core_.ask(slot, wanted == 0 ? nullptr : within->second);
  if (asked_at_ == instant::max()) asked_at_ = now();
}

bool courier::withdraw(unsigned slot) { return core_.is_asking(slot) && core_.withdraw(slot); }

std::unique_ptr<detail::task> courier::make_task(std::uint64_t type, detail::byte_reader& input) {
  const detail::wire_type* known = detail::find_wire_type(type);
  if (known == nullptr) throw detail::malformed("a task of a type that this program does not have");
  auto t = known->make(input);
  t->wire = known, t->is_kept = detail::task::kept::by_other_nodes;
  return t;
}

bool courier::start(asker who, const traveller& arrived) {
  const auto starves = std::find_if(hunger_.seen.begin(), hunger_.seen.end(),
                                    [&](const auto& s) { return s.worker == who; });
  if (starves == hunger_.seen.end()) return false;
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
    hunger_.told.erase(static_cast<unsigned>(who));  // the worker starves on
    events_.push_back([this, id = arrived.id, end = failure(std::current_exception())](instant at) {
      protocol_.finished(at, id, end);
    });
    return true;
  }
  t->generation = static_cast<std::uint32_t>(arrived.depth);
  in_.all[arrived.id] = t.get();
  if (!core_.feed(*starves, *t)) {
    in_.all.erase(arrived.id);
    return false;
  }
  static_cast<void>(t.release());  // the pool owns the task
  ++in_.count;
  hunger_.told.erase(static_cast<unsigned>(who));
  hunger_.seen.erase(starves);
  return true;
}

void courier::complete(std::uint64_t id, const outcome& end) {
  const auto entry = out_.all.find(id);
  if (entry == out_.all.end()) return;  // the task was cancelled meanwhile
  detail::task& t = *entry->second;
  out_.all.erase(entry);
  // The worker that waited for the task may come to wait for another one at its address, before it
  // is looked at again.
  std::erase_if(hunger_.seen, [&](const auto& who) { return who.wanted == &t; });
  try {
    detail::byte_reader r(end.result);
    detail::get_outcome(t, *t.wire, r);
  } catch (...) { t.error = std::current_exception(); }
  core_.complete(t);
}

void courier::again(std::uint64_t id, unsigned losses) {
  if (out_.all.count(id) == 0) return;
  out_.back.push_back({id, losses});
  restless_ = true;
}

void courier::cancel(std::uint64_t id) {
  if (const auto entry = in_.all.find(id); entry != in_.all.end()) core_.cancel(*entry->second);
}

bytes courier::merge(std::span<const std::byte> from, bool with_result) {
  bytes why;
  detail::byte_writer w(why);
  if (const auto error = take_in(from, with_result)) detail::put_failure(error, w);
  return why;
}

std::exception_ptr courier::take_in(std::span<const std::byte> from, bool with_result) noexcept {
  return values_.take_in(from, with_result && (!in_.all.empty() || runs_team_));
}

void courier::fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) {
  values_.fetched(publisher, id, std::move(contents));
  fetched_();
}

load courier::state() const {
  load l{core_.workers(), core_.computing(), 0};
  // A task that may go out again counts as something to have.
  if (first_to_give_again() != out_.back.end()) l.busy = std::max(l.busy, 1u);
  if (net_.self().self == 0) return l;
  l.depth = ~0u;
  for (const auto& [id, t] : in_.all) l.depth = std::min(l.depth, t->generation);
  return l;
}

}  // namespace cleave::net
