#pragma once

#include <algorithm>

#include "protocol/protocol.hpp"

/// Requests of this node: for whom, to whom, and again when. Part of protocol.hpp.
namespace cleave::net {

template <class Policy>
void node<Policy>::starving(instant now, asker who, std::uint64_t wanted) {
  if (member_ == membership::left) return;
  hunger& h = hungry_[who];
  if (h.wanted != wanted) h = {};  // a request for something else is answered all the same
  h.wanted = wanted;
  h.retry_at = now;
  pursue(now);
}

template <class Policy>
void node<Policy>::satisfied(instant, asker who) {
  hungry_.erase(who);  // a request of its is answered all the same, and the answer dealt with
}

template <class Policy>
void node<Policy>::pursue(instant now) {
  if (member_ != membership::active && !policy_.has(mutation::ignore_leave)) return;
  for (auto& [who, h] : hungry_) {
    const auto awaited = given_.find(h.wanted);
    if (awaited != given_.end() && likely_lost(now, awaited->second)) {
      take_all_back(h);
      continue;
    }
    if (h.request != 0) continue;
    if (h.wanted != 0) {
      if (h.retry_at <= now) take_back(now, who, h);
    } else if (open_any_ < how_.any_requests && any_retry_at_ <= now) {
      ask_any(now, who, h);
    }
  }
}

/// Asks exactly the node that has the awaited task, for a part of it. Nobody, while the task is
/// here.
template <class Policy>
void node<Policy>::take_back(instant now, asker who, hunger& h) {
  const auto at = given_.find(h.wanted);
  if (at == given_.end()) return;
  // Who does not come to answer will have to answer them all.
  const auto late = std::count_if(sent_.begin(), sent_.end(), [&](const auto& s) {
    return s.second.to == at->second.to && s.second.wanted == h.wanted &&
           s.second.is == sent_request::state::late;
  });
  if (late >= how_.late_at_most && now < h.late_until) {
    h.retry_at = h.late_until;
    return;
  }
  h.late_until = now + how_.give_up_after;
  request(now, who, h, at->second.to, {h.wanted, at->second.attempt});
}

/// Where nodes live short, who has not answered, or has said nothing for some heartbeats, is more
/// likely dead than slow.
template <class Policy>
bool node<Policy>::likely_lost(instant now, const given_task& t) const {
  if (lives_.mean() >= how_.short_life) return false;
  const instant heard = peers_.at(t.to).heard;
  return heard < t.unanswered ||
         now - std::max(heard, t.since) > how_.silent_beats * how_.heartbeat_every;
}

/// Who waits for a task that will hardly end where it is runs it again, all of it: a part of it
/// would be lost with the node that has the rest.
template <class Policy>
void node<Policy>::take_all_back(hunger& h) {
  const auto at = given_.find(h.wanted);
  send(at->second.to, cancel{{at->first, at->second.attempt}});
  if (policy_.has(mutation::keep_taken_back)) return core_.again(at->first, at->second.losses);
  give_again(at);
}

template <class Policy>
void node<Policy>::ask_any(instant now, asker who, hunger& h) {
  const auto to = misses_ != 0 && misses_ % how_.tries == 0 && any_pause_ == instant{}
                      ? std::nullopt
                      : whom_to_ask(now);
  if (to) {
    any_pause_ = {};
    ++open_any_;
    return request(now, who, h, *to, {});
  }
  any_pause_ = any_pause_ == instant{} ? how_.ask_again_after
                                       : std::min(2 * any_pause_, how_.ask_again_at_most);
  any_retry_at_ = now + any_pause_;
  core_.refuse(who);
}

template <class Policy>
void node<Policy>::request(instant now, asker who, hunger& h, address to, task_key wanted) {
  h.request = ++last_request_;
  const auto at = peers_.find(to);
  const bool near = at != peers_.end() && at->second.how_far != distance::far;
  // A far one has heard of it after half a round trip, and beats meanwhile if it lives.
  const instant far = lives_.mean() < how_.short_life ? 3 * how_.give_up_soon : how_.give_up_after;
  const instant until = now + (near ? how_.give_up_soon : far);
  sent_[h.request] = {to, who, wanted.task, sent_request::state::open, now, until};
  send(to, treq{h.request, wanted});
}

/// Not the asker back, and nobody who is known to have nothing, as far as what is known is not too
/// old.
template <class Policy>
bool node<Policy>::may_have_work(instant now, address who, const peer& p) const {
  if (!p.reachable || p.foreign || p.starves_until > now || p.nothing_until > now) return false;
  if (p.beat != 0 && p.state.busy == 0 && p.beaten + how_.idle_for > now) return false;
  return std::none_of(sent_.begin(), sent_.end(),
                      [&](const auto& s) { return s.second.to == who && s.second.wanted == 0; });
}

template <class Policy>
std::optional<address> node<Policy>::whom_to_ask(instant now) {
  if (how_.whom == strategy::relay) return relay_address;
  if (hint_) {
    const auto at = peers_.find(*hint_);
    hint_.reset();
    if (at != peers_.end() && may_have_work(now, at->first, at->second)) return at->first;
  }
  std::vector<candidate> from;
  const auto see = [&](address who, const peer& p) {
    if (may_have_work(now, who, p)) from.push_back({who, p.how_far, p.beat != 0, p.state});
  };
  // Who leaves gives all away first.
  for (const address who : leaving_) see(who, peers_.at(who));
  if (from.empty()) {
    const auto see_entry = [&](const reachable_peers::entry& e) { see(e.who, *e.what); };
    see_some(reachable_.near(), how_.looked_at, random_, see_entry);
    see_some(reachable_.far(), how_.looked_at, random_, see_entry);
  }
  return choose(how_.whom, from, random_);
}

/// A request has brought nothing.
template <class Policy>
void node<Policy>::in_vain(instant now, std::uint64_t number, const sent_request& r) {
  if (r.wanted == 0) --open_any_, ++misses_;
  const auto at = hungry_.find(r.who);
  if (at == hungry_.end() || at->second.request != number) return;
  hunger& h = at->second;
  h.request = 0;
  if (r.wanted == 0) return;
  h.pause =
      h.pause == instant{} ? how_.ask_again_after : std::min(2 * h.pause, how_.ask_again_at_most);
  h.retry_at = now + h.pause;
  core_.refuse(r.who);
}

/// Requests whose answer is late are not waited for; in the end they are forgotten.
template <class Policy>
void node<Policy>::give_up(instant now) {
  for (auto at = sent_.begin(); at != sent_.end();) {
    sent_request& r = at->second;
    if (r.until > now) {
      ++at;
    } else if (r.is == sent_request::state::open) {
      r.give_up(now + how_.forget_after);
      const auto awaited = given_.find(r.wanted);
      if (awaited != given_.end() && awaited->second.to == r.to && peers_.at(r.to).heard < r.since)
        awaited->second.unanswered = r.since;
      in_vain(now, at->first, r);
      ++at;
    } else {
      at = sent_.erase(at);
    }
  }
}

}  // namespace cleave::net
