#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "protocol/protocol.hpp"

/// What happens because time passes, or because somebody is gone. Part of protocol.hpp.
namespace cleave::net {

template <class Policy>
node<Policy>::node(identity self, settings how, core_port& core, network_port& network,
                   Policy policy)
    : self_(self),
      how_(how),
      core_(core),
      network_(network),
      policy_(policy),
      random_(self.process),
      lives_(how.short_life / 2) {}

template <class Policy>
template <class Body>
void node<Policy>::send(address to, Body body) {
  const auto at = peers_.find(to);
  const incarnation process = at == peers_.end() ? 0 : at->second.process;
  network_.send(to, {self_.program, self_.process, process, std::move(body)});
}

template <class Policy>
void node<Policy>::peer_found(instant now, address who, distance how_far) {
  if (member_ == membership::left || who == self_.self) return;
  peer& p = peers_[who];
  p.how_far = how_far;
  p.reachable = true;
  reachable_.update(who, p);
  for (auto& [what, f] : fetching_)
    if (what.first == who) f.resend_at = now;
  send_heartbeat(who, core_.state());
  pursue(now);
}

template <class Policy>
void node<Policy>::peer_lost(instant now, address who) {
  const auto at = peers_.find(who);
  if (member_ == membership::left || at == peers_.end()) return;
  lost(now, who);
  forget_served(who);
  at->second.lost_at = now;
  for (auto& [what, f] : fetching_)
    if (what.first == who) f.resend_at = now + how_.lost_after;
  at->second.reachable = false;
  reachable_.update(who, at->second);
  pursue(now);
}

/// It is known that a process is gone.
template <class Policy>
void node<Policy>::gone(instant now, address who) {
  lost(now, who);
  end_fetches(who);
  forget_served(who);
}

template <class Policy>
void node<Policy>::forget_served(address who) {
  std::erase_if(served_, [&](const auto& s) { return s.first.first == who; });
}

/// Ends all that is between this node and a process that is gone, or seems so, but fetches: its
/// tasks here are orphans, tasks there are given again, requests either way are over. If it lives
/// after all, nothing of that is believed any more: its results are of old attempts, and its
/// heartbeats name tasks that are cancelled.
template <class Policy>
void node<Policy>::lost(instant now, address who) {
  if (!peers_.at(who).leaving && with_tasks().count(who) != 0) lives_.lost(), judge(now);
  for (auto at = given_.begin(); at != given_.end();) {
    const auto current = at++;
    if (current->second.to != who || policy_.has(mutation::forget_lost_thief)) continue;
    ++current->second.losses;
    give_again(current);
  }
  std::vector<std::uint64_t> orphans;
  for (const auto& [id, t] : held_) {
    if (t.owner == who) orphans.push_back(id);
  }
  if (!policy_.has(mutation::keep_orphans)) {
    for (const std::uint64_t id : orphans) end_held(id);
  }
  for (unsigned i = 0; i < slot_count; ++i) {
    if (slots_[i].is == request_slot::state::free || slots_[i].from != who) continue;
    slots_[i].orphan = true;
    if (slots_[i].is == request_slot::state::asked)
      core_.withdraw(i) ? free_slot(i) : slots_[i].close();
  }
  for (auto at = sent_.begin(); at != sent_.end();) {
    const sent_request r = at->second;
    if (r.to != who) {
      ++at;
      continue;
    }
    const std::uint64_t number = at->first;
    at = sent_.erase(at);
    if (r.is == sent_request::state::open) in_vain(now, number, r);
  }
}

/// Their publisher is gone, or has nothing for this node.
template <class Policy>
void node<Policy>::end_fetches(address publisher) {
  for (auto at = fetching_.begin(); at != fetching_.end();) {
    const auto current = at++;
    if (current->first.first != publisher) continue;
    const std::uint64_t id = current->first.second;
    fetching_.erase(current);
    core_.fetched(publisher, id, std::nullopt);
  }
}

template <class Policy>
void node<Policy>::give_again(std::map<std::uint64_t, given_task>::iterator at) {
  const std::uint64_t id = at->first;
  const unsigned losses = at->second.losses;
  given_.erase(at);
  if (losses >= losses_to_stay && policy_.has(mutation::forget_lost_twice)) return;
  core_.again(id, losses);
}

/// Nobody wants the result of a task that came in.
template <class Policy>
void node<Policy>::end_held(std::uint64_t id) {
  const bool runs = held_.find(id)->is == held_task::state::running;
  held_.erase(id);
  if (runs) core_.cancel(id);
}

template <class Policy>
void node<Policy>::free_slot(unsigned slot) {
  slots_[slot].end();
}

template <class Policy>
void node<Policy>::tick(instant now) {
  if (member_ == membership::left) return;
  end_slots(now);
  give_up(now);
  resend(now);
  if (now >= next_beat_ || (told_idle_ && core_.state().busy != 0)) beat(now);
  pursue(now);
  drain(now);
}

/// A request that no worker has served is answered, so that its asker can go elsewhere.
template <class Policy>
void node<Policy>::end_slots(instant now) {
  for (unsigned i = 0; i < slot_count; ++i) {
    request_slot& s = slots_[i];
    if (s.is != request_slot::state::asked || s.until > now) continue;
    if (!core_.withdraw(i)) {
      s.close();
      continue;
    }
    if (!policy_.has(mutation::silent_none)) send(s.from, none{s.request, hint_for(s.from)});
    free_slot(i);
  }
}

template <class Policy>
void node<Policy>::resend(instant now) {
  for (auto& [id, t] : held_) {
    if (t.is == held_task::state::ended && t.resend_at <= now) send_result(now, t);
  }
  fetch_again(now);
}

/// A fetch ends with its data, or when its publisher is gone. Large data take their time, and what
/// is sent after them too: so this needs a longer silence than a task does. And who has come just
/// now may not have heard of the publisher yet. One that seems lost may be back in a moment, while
/// the error that would say so here ends the job.
template <class Policy>
void node<Policy>::fetch_again(instant now) {
  std::vector<address> silent;
  for (auto& [what, f] : fetching_) {
    const auto known = peers_.find(what.first);
    const bool is_known = known != peers_.end();
    const bool is_away = is_known && !known->second.reachable &&
                         now - std::max(f.since, known->second.lost_at) >= how_.lost_after;
    const bool is_gone = is_away || (is_known && known->second.foreign);
    const instant heard = is_known ? std::max(f.since, known->second.heard) : f.since;
    if (is_gone || now - heard > how_.forget_after) silent.push_back(what.first);
    if (f.resend_at > now) continue;
    f.resend_after = std::min(2 * f.resend_after, how_.forget_after / 2);
    f.resend_at = now + f.resend_after;
    send(what.first, fetch{what.second});
  }
  for (const address publisher : silent) end_fetches(publisher);
}

template <class Policy>
std::set<address> node<Policy>::with_tasks() const {
  std::set<address> all;
  for (const auto& [id, t] : given_) all.insert(t.to);
  for (const auto& [id, t] : held_) all.insert(t.owner);
  return all;
}

/// Between whom and this node there is anything that a loss would matter to.
template <class Policy>
std::set<address> node<Policy>::related() const {
  std::set<address> all = with_tasks();
  for (const auto& [number, r] : sent_) all.insert(r.to);
  return all;
}

template <class Policy>
void node<Policy>::beat(instant now) {
  lives_.lived(with_tasks().size(), now - beat_at_);
  beat_at_ = now;
  next_beat_ = now + how_.heartbeat_every;
  const load state = core_.state();
  told_idle_ = state.busy == 0;
  if (std::exchange(some_stayed_, false) && given_.empty()) least_depth_.kept_all();
  for (const address who : listeners(now, find_lost(now))) send_heartbeat(who, state);
}

/// Takes who was silent for too long for lost. Returns all with whom there is something.
template <class Policy>
std::set<address> node<Policy>::find_lost(instant now) {
  std::set<address> close = related();
  for (const address who : close) {
    const auto at = peers_.find(who);
    if (at == peers_.end()) continue;  // a relay
    peer& p = at->second;
    // Before there was anything between, its heartbeats went to others.
    if (related_.count(who) == 0) p.related_since = now;
    const instant silent = now - std::max(p.heard, p.related_since);
    if (!p.reachable || p.foreign || p.process == 0 || silent <= how_.lost_after) continue;
    lost(now, who);
    p.state = {};
    p.nothing_until = now + how_.lost_after;
  }
  related_ = close;
  return close;
}

/// Who is to get a heartbeat: those with whom there is something, some of the same site in turn,
/// and a few of the others.
template <class Policy>
std::set<address> node<Policy>::listeners(instant now, std::set<address> all) {
  std::erase_if(all, [&](address who) {
    const auto at = peers_.find(who);
    return at == peers_.end() || !at->second.reachable || at->second.foreign;
  });
  std::erase_if(fetchers_, [&](address who) { return peers_.at(who).fetches_until <= now; });
  for (const address who : fetchers_) {
    const peer& p = peers_.at(who);
    if (p.reachable && !p.foreign) all.insert(who);
  }
  const reachable_peers::list& near = reachable_.near();
  for (std::size_t i = std::min<std::size_t>(near.size(), how_.neighbours); i > 0; --i)
    all.insert(near[next_neighbour_++ % near.size()].who);
  std::vector<address> strangers;
  see_some(reachable_.far(), how_.looked_at, random_, [&](const reachable_peers::entry& e) {
    if (all.count(e.who) == 0) strangers.push_back(e.who);
  });
  for (unsigned i = 0; i < how_.gossip && !strangers.empty(); ++i) {
    const std::size_t at = random_.below(strangers.size());
    all.insert(strangers[at]);
    strangers.erase(strangers.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return all;
}

template <class Policy>
void node<Policy>::send_heartbeat(address to, const load& state) {
  heartbeat beat{++last_beat_, peers_[to].beat, member_ != membership::active, state, {}};
  for (const auto& [id, t] : held_) {
    if (t.owner == to && t.key.owner == peers_[to].process) beat.held.push_back(t.key.key);
  }
  send(to, std::move(beat));
}

template <class Policy>
void node<Policy>::leave(instant now, instant deadline) {
  if (member_ == membership::left) return;
  if (member_ == membership::draining) {
    leave_by_ = std::min(leave_by_, deadline);
    return drain(now);
  }
  member_ = membership::draining;
  leave_by_ = deadline;
  for (const auto& [who, p] : peers_) {
    if (p.reachable && !p.foreign) send(who, net::leave{false});
  }
  drain(now);
}

template <class Policy>
void node<Policy>::drain(instant now) {
  if (member_ != membership::draining) return;
  const bool quiet = held_.empty() && given_.empty() && core_.state().busy == 0 &&
                     std::all_of(slots_.begin(), slots_.end(), [](const request_slot& s) {
                       return s.is == request_slot::state::free;
                     });
  if (!quiet && now < leave_by_) return;
  for (const auto& [who, p] : peers_) {
    if (p.reachable) send(who, net::leave{true});
  }
  member_ = membership::left;
}

template <class Policy>
instant node<Policy>::next() const {
  if (member_ == membership::left) return instant::max();
  instant at = next_beat_;
  for (const request_slot& s : slots_) {
    if (s.is == request_slot::state::asked) at = std::min(at, s.until);
  }
  for (const auto& [id, r] : sent_) at = std::min(at, r.until);
  for (const auto& [id, t] : held_) {
    if (t.is == held_task::state::ended) at = std::min(at, t.resend_at);
  }
  for (const auto& [what, f] : fetching_) at = std::min(at, f.resend_at);
  for (const auto& [who, h] : hungry_) {
    if (h.request != 0 || member_ != membership::active) continue;
    if (h.wanted != 0 && given_.count(h.wanted) != 0) at = std::min(at, h.retry_at);
    if (h.wanted == 0 && open_any_ < how_.any_requests) at = std::min(at, any_retry_at_);
  }
  if (member_ == membership::draining) at = std::min(at, leave_by_);
  return at;
}

}  // namespace cleave::net
