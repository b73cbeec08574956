#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "machine/printable.hpp"
#include "protocol/protocol.hpp"

/// What each message does. Part of protocol.hpp: included where node is instantiated.
namespace cleave::net {

template <class Policy>
void node<Policy>::receive(instant now, address from, const message& m) {
  if (member_ == membership::left || !is_for_me(from, m)) return;
  if (from == relay_address) {
    // A relay is no node: it only says that it knows nobody to ask.
    if (const auto* answer = std::get_if<none>(&m.body)) on(now, from, *answer), pursue(now);
    return;
  }
  peer& p = sender(now, from, m.from);
  const bool foreign = m.program != self_.program || m.version != wire_version;
  if (foreign && !std::holds_alternative<reject>(m.body)) return refuse(from, p, m);
  p.heard = now;
  if (!p.reachable) p.reachable = true, reachable_.update(from, p);
  std::visit([&](const auto& body) { on(now, from, body); }, m.body);
  pursue(now);
}

template <class Policy>
void node<Policy>::alive(instant now, address from) {
  if (const auto known = peers_.find(from); known != peers_.end()) known->second.heard = now;
  for (auto& [what, f] : fetching_)  // it may be what comes
    if (what.first == from) f.resend_at = std::max(f.resend_at, now + f.resend_after);
}

template <class Policy>
bool node<Policy>::is_for_me(address from, const message& m) {
  if (m.to == self_.process || m.to == 0) return true;
  if (policy_.has(mutation::trust_old_incarnation)) return true;
  // The sender takes this process for one that was here before: it learns better from a heartbeat.
  const auto known = peers_.find(from);
  if (!std::holds_alternative<heartbeat>(m.body) || known == peers_.end() ||
      m.from != known->second.process) {
    network_.send(from, {self_.program, self_.process, 0,
                         heartbeat{++last_beat_, 0, false, core_.state(), {}}});
  }
  return false;
}

/// Who is at that address now.
template <class Policy>
peer& node<Policy>::sender(instant now, address from, incarnation process) {
  peer& p = peers_[from];
  if (p.process == process) return p;
  // Another process than before: what was between this node and that one is over.
  if (p.process != 0) gone(now, from);
  const distance how_far = p.how_far;
  p = peer{};
  p.how_far = how_far;
  p.process = process;
  leaving_.erase(from), fetchers_.erase(from);
  reachable_.update(from, p);
  return p;
}

/// Nothing passes between nodes of two programs, or of two versions of this protocol.
template <class Policy>
void node<Policy>::refuse(address from, peer& p, const message& m) {
  const bool version = m.version != wire_version;
  if (!p.foreign) {
    network_.say(network_.name(from) +
                 (version ? " speaks another version of the protocol" : " runs another program") +
                 ": refused");
  }
  p.foreign = true;
  reachable_.update(from, p);
  const auto* gone = std::get_if<net::leave>(&m.body);
  if (gone != nullptr && gone->gone) {
    p.reachable = false;
    return;
  }
  send(from, reject{version ? "this job speaks another version of the protocol; start the same "
                              "executable on every node"
                            : "this job runs another program (other sources or another build of "
                              "them); start the same executable on every node"});
}

template <class Policy>
void node<Policy>::on(instant, address from, const reject& m) {
  peer& p = peers_[from];
  const std::string why = m.reason.empty() ? "another version of the protocol" : m.reason;
  if (!p.foreign)
    network_.say(network_.name(from) + " refuses this one: " + machine::printable(why));
  p.foreign = true;
  reachable_.update(from, p);
}

// Requests and their answers.

/// What may be split for a request: 0 for anything, a task; nothing: none.
template <class Policy>
std::optional<std::uint64_t> node<Policy>::split_for(address from, const treq& m) const {
  if (m.wanted.task == 0) {
    if (core_.state().busy == 0) return std::nullopt;
    return 0;
  }
  const std::uint64_t id = held_.id_of({peers_.at(from).process, m.wanted});
  if (id == 0) return std::nullopt;
  // Its result is on its way: the asker will need nothing. Other requests are not held up by that.
  const bool ended = const_cast<held_tasks&>(held_).find(id)->is == held_task::state::ended;
  if (ended && !policy_.has(mutation::takeback_of_finished)) return std::nullopt;
  return policy_.has(mutation::split_outside) ? 0 : id;
}

template <class Policy>
void node<Policy>::on(instant now, address from, const treq& m) {
  peer& p = peers_[from];
  if (!p.requests.first(m.request) && !policy_.has(mutation::answer_twice)) return;
  if (m.wanted.task == 0) p.starves_until = now + how_.idle_for;
  const auto wanted = split_for(from, m);
  unsigned slot = 0;
  while (slot < slot_count && slots_[slot].is != request_slot::state::free) ++slot;
  if (!wanted || slot == slot_count) return send(from, none{m.request, hint_for(from)});
  slots_[slot].open(from, m.request, *wanted == 0, now + how_.none_after);
  core_.ask(slot, *wanted);
}

/// Who was given the least split of the tasks that are away, plus one. Not the asker.
template <class Policy>
address node<Policy>::hint_for(address from) const {
  const given_task* best = nullptr;
  for (const auto& [id, t] : given_) {
    if (t.to != from && (best == nullptr || t.depth < best->depth)) best = &t;
  }
  return best == nullptr ? 0 : best->to + 1;
}

/// Which of the tasks that are away take too long for how nodes live.
template <class Policy>
void node<Policy>::judge(instant now) {
  if (lives_.mean() >= how_.short_life) return;
  const instant at_most = lives_.mean() / how_.tasks_in_life;
  std::optional<std::uint64_t> deepest;
  for (auto& [id, t] : given_) {
    if (t.is_long || now - t.since <= at_most) continue;
    t.is_long = true;
    deepest = std::max(deepest, std::optional(t.depth));
  }
  if (deepest) least_depth_.took_long(*deepest);  // one step: those of its parts say nothing new
}

/// Where nodes live short, a task that takes long is likely lost with its thief. At the root's node
/// it stays, and its parts are given; elsewhere it would be lost as well.
template <class Policy>
bool node<Policy>::stays(instant now, const traveller& t) {
  if (self_.self != 0 || lives_.mean() >= how_.short_life) return false;
  judge(now);
  const bool too_large = t.depth < least_depth_.value();
  some_stayed_ = some_stayed_ || too_large;
  return too_large;
}

template <class Policy>
void node<Policy>::answered(instant now, unsigned slot, const traveller& t) {
  if (member_ == membership::left) return;
  const request_slot s = slots_[slot];
  if (s.anything && s.is == request_slot::state::asked && stays(now, t)) {
    core_.again(t.id, losses_to_stay);
    slots_[slot].until = now + how_.none_after;
    return core_.ask(slot, 0);
  }
  free_slot(slot);
  if (s.orphan) {
    if (!policy_.has(mutation::late_answer_lost)) core_.again(t.id, t.losses);
  } else {
    const std::uint64_t attempt = ++last_attempt_;
    given_[t.id] = {s.from, attempt, t.depth, t.losses, now, false, {}, last_beat_, 0};
    peer& p = peers_[s.from];
    p.starves_until = p.nothing_until = {};
    p.state.busy = std::max(p.state.busy, 1U);
    p.state.depth = static_cast<std::uint32_t>(t.depth);
    send(s.from, task{s.request, {t.id, attempt}, t.type, t.depth, t.input, core_.shared()});
  }
  pursue(now);
}

template <class Policy>
void node<Policy>::unanswered(instant now, unsigned slot) {
  if (member_ == membership::left) return;
  const request_slot s = slots_[slot];
  free_slot(slot);
  if (!s.orphan) send(s.from, none{s.request, 0});
  pursue(now);
}

/// Which worker runs a task that has come for that request. Ends the request.
template <class Policy>
typename node<Policy>::hungry_worker node<Policy>::taker_of(std::uint64_t request) {
  auto who = hungry_.end();
  const auto at = sent_.find(request);
  if (at != sent_.end()) {
    const sent_request& r = at->second;
    const auto h = hungry_.find(r.who);
    // A part that was taken back may be run by who waits for it, and by nobody else who waits.
    if (h != hungry_.end() && h->second.wanted == r.wanted) who = h;
    if (r.is == sent_request::state::open) {
      if (r.wanted == 0) --open_any_;
      if (h != hungry_.end() && h->second.request == request) h->second.request = 0;
    }
    sent_.erase(at);
  }
  if (who != hungry_.end()) return who;
  return std::find_if(hungry_.begin(), hungry_.end(),
                      [](const auto& h) { return h.second.wanted == 0; });
}

template <class Policy>
void node<Policy>::on(instant now, address from, const task& m) {
  const full_key key{peers_[from].process, m.key};
  if (held_.id_of(key) != 0 || held_.was_here(key)) return;
  const auto sent = sent_.find(m.request);
  const bool late = sent == sent_.end() || sent->second.is == sent_request::state::late;
  const bool anything = sent == sent_.end() || sent->second.wanted == 0;
  auto who = taker_of(m.request);
  if (late && policy_.has(mutation::drop_late_task)) return;
  if (member_ != membership::active && !policy_.has(mutation::ignore_leave)) who = hungry_.end();

  core_.merge(m.shared, false);
  const std::uint64_t id = held_.add({from, key, held_task::state::running, {}, {}, {}, {}});
  if (who != hungry_.end() && core_.start(who->first, {id, m.type, m.depth, m.input})) {
    hungry_.erase(who);
    if (anything) misses_ = 0, any_pause_ = {}, hint_.reset();
    hasten_beat();
    return;
  }
  held_task& t = *held_.find(id);
  t.finish({ending::refused, {}});
  send_result(now, t);
}

template <class Policy>
void node<Policy>::on(instant now, address from, const none& m) {
  const auto at = sent_.find(m.request);
  if (at == sent_.end() || (at->second.to != from && at->second.to != relay_address)) return;
  const sent_request r = at->second;
  sent_.erase(at);
  if (r.wanted == 0) {
    if (from != relay_address) peers_[from].nothing_until = now + how_.nothing_for;
    if (m.elsewhere != 0 && how_.hints) hint_ = m.elsewhere - 1;
  }
  if (r.is == sent_request::state::open) in_vain(now, m.request, r);
}

// Results.

template <class Policy>
void node<Policy>::on(instant now, address from, const rslt& m) {
  send(from, rack{m.key});
  const auto at = given_.find(m.key.task);
  const bool mine =
      at != given_.end() && at->second.to == from && at->second.attempt == m.key.attempt;
  if (!mine) {
    if (policy_.has(mutation::merge_twice) && m.how != ending::refused)
      core_.complete(m.key.task, {m.how, m.result});
    return;
  }
  if (m.how == ending::refused) return give_again(at);
  if (now - at->second.since <= lives_.mean() / how_.tasks_in_life)
    least_depth_.took_a_moment(at->second.depth);
  given_.erase(at);
  // First the bound, then what was computed under it: not without it.
  const bytes error = core_.merge(m.shared, true);
  const bool lost = m.how == ending::value && !error.empty();
  core_.complete(m.key.task, lost ? outcome{ending::error, error} : outcome{m.how, m.result});
}

template <class Policy>
void node<Policy>::finished(instant now, std::uint64_t id, outcome end) {
  held_task* t = held_.find(id);
  if (member_ == membership::left || t == nullptr || t->is != held_task::state::running) return;
  t->finish(std::move(end));
  if (!policy_.has(mutation::result_without_shared)) t->shared = core_.shared();
  send_result(now, *t);
  pursue(now);
}

template <class Policy>
void node<Policy>::send_result(instant now, held_task& t) {
  // One that is sent again before it can be there only takes longer.
  const instant takes{static_cast<instant::rep>(t.end.result.size() / how_.slowest_link)};
  t.resend_after = t.resend_after == instant{}
                       ? how_.resend_after + takes
                       : std::min(2 * t.resend_after, how_.lost_after + takes);
  t.resend_at = now + t.resend_after;
  if (policy_.has(mutation::send_result_once)) t.resend_at = instant::max();
  send(t.owner, rslt{t.key.key, t.end.how, t.end.result, t.shared});
}

template <class Policy>
void node<Policy>::on(instant, address from, const rack& m) {
  const std::uint64_t id = held_.id_of({peers_[from].process, m.key});
  if (id != 0 && held_.find(id)->is == held_task::state::ended) held_.erase(id);
}

template <class Policy>
void node<Policy>::on(instant, address from, const cancel& m) {
  const std::uint64_t id = held_.id_of({peers_[from].process, m.key});
  if (id != 0) end_held(id);
}

template <class Policy>
void node<Policy>::cancelled(instant now, std::uint64_t id) {
  const auto at = given_.find(id);
  if (member_ == membership::left || at == given_.end()) return;
  const address to = at->second.to;
  const task_key key{id, at->second.attempt};
  given_.erase(at);
  if (!policy_.has(mutation::forget_cancel)) send(to, cancel{key});
  pursue(now);
}

// What nodes know of each other.

template <class Policy>
void node<Policy>::on(instant now, address from, const heartbeat& m) {
  peer& p = peers_[from];
  if (m.number <= p.beat) return;  // an older one, or the same again
  p.beat = m.number;
  p.beaten = now;
  set_leaving(from, p, m.leaving);
  const bool idle_before = p.state.busy == 0;
  p.state = m.state;
  if (m.state.busy != 0) {
    p.nothing_until = p.starves_until = {};
    if (idle_before) any_pause_ = {}, any_retry_at_ = now, misses_ = 0;  // there is somebody to ask
  }
  for (auto at = given_.begin(); at != given_.end();) {
    const auto current = at++;
    given_task& t = current->second;
    if (t.to != from) continue;
    const task_key key{current->first, t.attempt};
    const bool there = std::find(m.held.begin(), m.held.end(), key) != m.held.end();
    if (there) t.missing = 0;
    // Counts only if its sender has heard from this node since the task was sent. One alone may be
    // overtaken.
    else if (m.heard > t.beat) ++t.missing;
    if (t.missing >= 2 && !policy_.has(mutation::ignore_missing)) give_again(current);
  }
  for (const task_key& key : m.held) {
    const auto at = given_.find(key.task);
    const bool mine =
        at != given_.end() && at->second.to == from && at->second.attempt == key.attempt;
    if (!mine && !policy_.has(mutation::forget_cancel)) send(from, cancel{key});
  }
}

template <class Policy>
void node<Policy>::set_leaving(address who, peer& p, bool leaves) {
  p.leaving = leaves;
  leaves ? void(leaving_.insert(who)) : void(leaving_.erase(who));
}

template <class Policy>
void node<Policy>::on(instant now, address from, const net::leave& m) {
  peer& p = peers_[from];
  set_leaving(from, p, true);
  if (!m.gone) return;
  gone(now, from);
  p.reachable = false;
  reachable_.update(from, p);
}

// Shared values and published data.

template <class Policy>
void node<Policy>::on(instant, address, const shared_update& m) {
  core_.merge(m.values, false);
  spread(m.last, m.values);
}

template <class Policy>
void node<Policy>::improved(instant, bytes values) {
  if (member_ == membership::left) return;
  spread(self_.self - 1, values);
}

/// Sends values to the peers after this one on the ring of addresses, up to `last`: to the first of
/// each of a few stretches, which passes them on within its own.
template <class Policy>
void node<Policy>::spread(address last, const bytes& values) {
  if (last == self_.self) return;
  const auto place = [&](address who) { return who - self_.self - 1; };
  std::vector<address> all;
  for (const auto& [who, p] : peers_) {
    if (p.reachable && !p.foreign && who != self_.self && place(who) <= place(last))
      all.push_back(who);
  }
  std::sort(all.begin(), all.end(), [&](address a, address b) { return place(a) < place(b); });
  const std::size_t branches = std::min<std::size_t>(how_.branches, all.size());
  for (std::size_t i = 0; i < branches; ++i) {
    const std::size_t first = all.size() * i / branches, end = all.size() * (i + 1) / branches;
    send(all[first], shared_update{all[end - 1], values});
  }
}

template <class Policy>
void node<Policy>::fetch_from(instant now, address publisher, std::uint64_t id) {
  fetching_[{publisher, id}] = {now, now + how_.give_up_after, how_.give_up_after};
  send(publisher, fetch{id});
}

template <class Policy>
void node<Policy>::on(instant now, address from, const fetch& m) {
  peers_[from].fetches_until = now + how_.forget_after;
  fetchers_.insert(from);
  std::erase_if(served_, [&](const auto& s) { return s.second <= now; });
  if (served_.count({from, m.id}) != 0) return;  // it is asked for again while it is on its way
  auto contents = core_.publication(m.id);
  const bool found = contents.has_value();
  const instant takes{found ? static_cast<instant::rep>(contents->size() / how_.slowest_link) : 0};
  served_[{from, m.id}] = now + std::min(takes, how_.forget_after / 2);
  send(from, published{m.id, found, found ? std::move(*contents) : bytes{}});
}

template <class Policy>
void node<Policy>::on(instant, address from, const published& m) {
  if (fetching_.erase({from, m.id}) == 0) return;
  core_.fetched(from, m.id, m.found ? std::optional(m.contents) : std::nullopt);
}

}  // namespace cleave::net
