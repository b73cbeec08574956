#include "protocol/asking.hpp"

#include <algorithm>

namespace cleave::net {
namespace {

constexpr address root_address = 0;  // the root's node has it

}  // namespace

void asking::starving(instant now, asker who, std::uint64_t wanted) {
  hunger& h = hungry_[who];
  if (h.wanted != wanted) h = {};  // a request for something else is answered all the same
  h.wanted = wanted;
  h.retry_at = now;
}

void asking::satisfied(asker who) {
  hungry_.erase(who);  // its request is answered all the same, and the answer dealt with
}

void asking::pursue(instant now) {
  for (auto& [who, h] : hungry_) {
    const auto awaited = given_.tasks().find(h.wanted);
    if (awaited != given_.tasks().end() && given_.likely_lost(now, awaited->second)) {
      // The task will hardly end where it is: the worker that waits for it runs it again.
      given_.take_all_back(h.wanted);
      continue;
    }
    if (h.request != 0) continue;
    if (h.wanted != 0) {
      if (h.retry_at <= now) take_back(now, who, h);
    } else if (any_.open < all_.how.any_requests && any_.retry_at <= now) {
      ask_any(now, who, h);
    }
  }
}

/// Asks exactly the node that has the awaited task, for a part of it. Asks nobody while the task is
/// here.
void asking::take_back(instant now, asker who, hunger& h) {
  const auto at = given_.tasks().find(h.wanted);
  if (at == given_.tasks().end()) return;
  // A peer that does not come to answer will have to answer them all.
  const auto late = std::count_if(sent_.begin(), sent_.end(), [&](const auto& s) {
    return s.second.to == at->second.to && s.second.wanted == h.wanted &&
           s.second.is == sent_request::state::late;
  });
  if (late >= all_.how.late_at_most && now < h.late_until) {
    h.retry_at = h.late_until;
    return;
  }
  h.late_until = now + all_.how.give_up_after;
  request(now, who, h, at->second.to, {h.wanted, at->second.attempt});
}

instant asking::longer(instant pause) const {
  return pause == instant{} ? all_.how.ask_again_after
                            : std::min(2 * pause, all_.how.ask_again_at_most);
}

void asking::ask_any(instant now, asker who, hunger& h) {
  const bool pauses =
      any_.misses != 0 && any_.misses % all_.how.tries == 0 && any_.pause == instant{};
  const auto to = pauses ? std::nullopt : whom_to_ask(now);
  if (to) {
    any_.pause = {};
    ++any_.open;
    return request(now, who, h, *to, {});
  }
  any_.pause = longer(any_.pause);
  any_.retry_at = now + any_.pause;
  all_.core.refuse(who);
}

void asking::request(instant now, asker who, hunger& h, address to, task_key wanted) {
  h.request = ++last_request_;
  const peer* const known = peers_.find(to);
  const bool near = known != nullptr && known->how_far != distance::far;
  // A far peer has heard of the request after half a round trip, and beats meanwhile if it lives.
  const instant far = given_.lives_are_short() ? 3 * all_.how.give_up_soon : all_.how.give_up_after;
  const instant until = now + (near ? all_.how.give_up_soon : far);
  sent_[h.request] = {to, who, wanted.task, sent_request::state::open, now, until};
  peers_.send(to, task_request{h.request, wanted});
}

/// Rules out a peer that asks this node, and one that is known to have nothing, as far as what is
/// known is not too old.
bool asking::may_have_work(instant now, address who, const peer& p) const {
  if (!neighbours::is_open(p) || p.until.starves > now || p.until.nothing > now) return false;
  if (p.beat != 0 && p.state.busy == 0 && p.beaten + all_.how.idle_for > now) return false;
  return std::none_of(sent_.begin(), sent_.end(),
                      [&](const auto& s) { return s.second.to == who && s.second.wanted == 0; });
}

std::optional<address> asking::whom_to_ask(instant now) {
  if (all_.how.whom == strategy::relay) return relay_address;
  if (any_.hint) {
    const address named = *any_.hint;
    any_.hint.reset();
    const peer* const known = peers_.find(named);
    if (known != nullptr && may_have_work(now, named, *known)) return named;
  }
  std::vector<candidate> from;
  const auto see = [&](address who, const peer& p) {
    if (may_have_work(now, who, p)) from.push_back({who, p.how_far, p.site, p.beat != 0, p.state});
  };
  // A node that leaves gives all away first.
  for (const address who : peers_.leaving()) see(who, peers_.at(who));
  if (from.empty()) {
    const auto see_entry = [&](const reachable_peers::entry& e) { see(e.who, *e.what); };
    see_some(peers_.reachable().near(), all_.how.looked_at, peers_.random(), see_entry);
    see_some(peers_.reachable().far(), all_.how.looked_at, peers_.random(), see_entry);
  }
  return choose(all_.how.whom, from, peers_.random(), servers());
}

server_tree asking::servers() const {
  server_tree tree;
  tree.nodes = peers_.reachable().near().size() + 1;
  tree.site_nodes = all_.how.site_nodes;
  const auto root = peers_.known().find(root_address);
  if (all_.self.self == root_address || root == peers_.known().end()) return tree;
  tree.at_root = root->second.how_far != distance::far;
  tree.root_site = root->second.site;
  return tree;
}

/// A request has brought nothing.
void asking::in_vain(instant now, std::uint64_t number, const sent_request& r) {
  if (r.wanted == 0) --any_.open, ++any_.misses;
  const auto at = hungry_.find(r.who);
  if (at == hungry_.end() || at->second.request != number) return;
  hunger& h = at->second;
  h.request = 0;
  if (r.wanted == 0) return;
  h.pause = longer(h.pause);
  h.retry_at = now + h.pause;
  all_.core.refuse(r.who);
}

void asking::give_up(instant now) {
  for (auto at = sent_.begin(); at != sent_.end();) {
    sent_request& r = at->second;
    if (r.until > now) {
      ++at;
    } else if (r.is == sent_request::state::open) {
      r.give_up(now + all_.how.forget_after);
      given_.unanswered(r.wanted, r.to, r.since);
      in_vain(now, at->first, r);
      ++at;
    } else {
      at = sent_.erase(at);
    }
  }
}

asking::arrival asking::on_task(std::uint64_t request) {
  arrival how;
  const auto at = sent_.find(request);
  how.late = at == sent_.end() || at->second.is == sent_request::state::late;
  how.anything = at == sent_.end() || at->second.wanted == 0;
  if (at != sent_.end()) {
    const sent_request& r = at->second;
    const auto h = hungry_.find(r.who);
    // A part that was taken back may be run by who waits for it, and by nobody else who waits.
    if (h != hungry_.end() && h->second.wanted == r.wanted) how.for_whom = r.who;
    if (r.is == sent_request::state::open) {
      if (r.wanted == 0) --any_.open;
      if (h != hungry_.end() && h->second.request == request) h->second.request = 0;
    }
    sent_.erase(at);
  }
  if (!how.for_whom) {
    const auto any = std::find_if(hungry_.begin(), hungry_.end(),
                                  [](const auto& h) { return h.second.wanted == 0; });
    if (any != hungry_.end()) how.for_whom = any->first;
  }
  return how;
}

void asking::fed(asker who, const arrival& how) {
  hungry_.erase(who);
  if (how.anything) any_.misses = 0, any_.pause = {}, any_.hint.reset();
}

void asking::on_none(instant now, address from, const none& m) {
  const auto at = sent_.find(m.request);
  if (at == sent_.end() || (at->second.to != from && at->second.to != relay_address)) return;
  const sent_request r = at->second;
  sent_.erase(at);
  if (r.wanted == 0) {
    if (from != relay_address) peers_[from].until.nothing = now + all_.how.nothing_for;
    if (m.elsewhere != 0 && all_.how.hints) any_.hint = m.elsewhere - 1;
  }
  if (r.is == sent_request::state::open) in_vain(now, m.request, r);
}

void asking::somebody_computes(instant now) {
  any_.pause = {};
  any_.retry_at = now;
  any_.misses = 0;
}

void asking::lost(instant now, address who) {
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

void asking::add_asked(std::set<address>& to) const {
  for (const auto& [number, r] : sent_) to.insert(r.to);
}

instant asking::next(bool asks) const {
  instant at = instant::max();
  for (const auto& [id, r] : sent_) at = std::min(at, r.until);
  for (const auto& [who, h] : hungry_) {
    if (h.request != 0 || !asks) continue;
    if (h.wanted != 0 && given_.tasks().count(h.wanted) != 0) at = std::min(at, h.retry_at);
    if (h.wanted == 0 && any_.open < all_.how.any_requests) at = std::min(at, any_.retry_at);
  }
  return at;
}

}  // namespace cleave::net
