#include "protocol/node.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

node::node(const identity& self, const settings& how, core_port& core, gathered_port& gathered,
           network_port& network)
    : all_{self, how, core, gathered, network},
      peers_(all_),
      giving_(all_, peers_),
      holding_(all_, peers_, giving_),
      asking_(all_, peers_, giving_),
      values_(all_, peers_),
      publications_(all_, peers_),
      gathering_(all_, peers_),
      beats_(all_, peers_) {}

// ---- from the transport

void node::receive(instant now, address from, const message& m) {
  if (member_ == membership::left || !is_for_me(from, m)) return;
  if (from == relay_address) {
    // A relay is no node: it only says that it knows nobody to ask.
    if (const auto* answer = std::get_if<none>(&m.body)) on(now, from, *answer), pursue(now);
    return;
  }
  meet(now, from, m.from);
  const bool foreign = m.program != all_.self.program || m.version != wire_version;
  if (foreign && !std::holds_alternative<reject>(m.body)) return peers_.refuse(from, m);
  peer& p = peers_[from];
  p.heard = now;
  if (!p.reachable) peers_.set_reachable(from, true);
  std::visit([&](const auto& body) { on(now, from, body); }, m.body);
  pursue(now);
}

void node::alive(instant now, address from) {
  if (peer* const known = peers_.find(from)) known->heard = now;
  publications_.alive(now, from);
}

bool node::is_for_me(address from, const message& m) {
  if (m.to == all_.self.process || m.to == 0) return true;
  if (all_.breaks(mutation::trust_old_incarnation)) return true;
  const peer* const known = peers_.find(from);
  if (!std::holds_alternative<heartbeat>(m.body) || known == nullptr || m.from != known->process)
    beats_.greet(from);
  return false;
}

/// Learns which process is at that address. If it is another one than before, nothing is between it
/// and this node any more.
void node::meet(instant now, address from, incarnation process) {
  const peer& p = peers_[from];
  if (p.process == process) return;
  if (p.process != 0) gone(now, from);
  peers_.replaced(from, process);
}

void node::peer_found(instant now, address who, distance how_far, std::uint64_t site) {
  if (member_ == membership::left || who == all_.self.self) return;
  peers_.found(who, how_far, site);
  publications_.found(now, who);
  send_heartbeat(who, all_.core.state(), gathering_.told());
  pursue(now);
}

void node::peer_lost(instant now, address who) {
  if (member_ == membership::left || peers_.find(who) == nullptr) return;
  lost(now, who);
  peers_[who].lost_at = now;
  publications_.unreachable(now, who);
  peers_.set_reachable(who, false);
  pursue(now);
}

/// Called when it is known that a process is gone.
void node::gone(instant now, address who) {
  lost(now, who);
  publications_.gone(now, who);
  gathering_.gone(who);
}

/// Ends all that is between this node and a process that is gone, or seems so, but fetches: its
/// tasks here are orphans, tasks there are given again, requests either way are over. If it lives
/// after all, nothing of that is believed any more: its results are of old attempts, and its
/// heartbeats name tasks that are cancelled.
void node::lost(instant now, address who) {
  if (!peers_.at(who).leaving && with_tasks().count(who) != 0) giving_.died(now);
  giving_.lost(who);
  holding_.lost(who);
  asking_.lost(now, who);
}

// ---- requests and tasks

bool node::takes_tasks() const {
  return member_ == membership::active || all_.breaks(mutation::ignore_leave);
}

void node::pursue(instant now) {
  if (takes_tasks()) asking_.pursue(now);
}

void node::starving(instant now, asker who, std::uint64_t wanted) {
  if (member_ == membership::left) return;
  asking_.starving(now, who, wanted);
  pursue(now);
}

void node::satisfied(instant, asker who) { asking_.satisfied(who); }

void node::on(instant now, address from, const task_request& m) {
  holding_.on_request(now, from, m);
}

void node::answered(instant now, unsigned slot, const traveller& t) {
  if (member_ == membership::left) return;
  const request_slot& open = holding_.slots()[slot];
  if (open.anything && open.is == request_slot::state::asked && giving_.stays(now, t)) {
    all_.core.again(t.id, losses_to_stay);
    return holding_.ask_again(now, slot);
  }
  const request_slot s = holding_.take(slot);
  if (!s.orphan) {
    giving_.give(now, s.from, s.request, t, beats_.last());
  } else if (!all_.breaks(mutation::late_answer_lost)) {
    all_.core.again(t.id, t.losses);
  }
  pursue(now);
}

void node::unanswered(instant now, unsigned slot) {
  if (member_ == membership::left) return;
  const request_slot s = holding_.take(slot);
  if (!s.orphan) peers_.send(s.from, none{s.request, 0});
  pursue(now);
}

void node::on(instant now, address from, const task& m) {
  if (!holding_.is_new(from, m.key)) return;
  const auto arrived = asking_.on_task(m.request);
  if (arrived.late && all_.breaks(mutation::drop_late_task)) return;
  all_.core.merge(m.shared, false);
  const std::uint64_t id = holding_.add(from, m.key);
  if (!takes_tasks() || !arrived.for_whom ||
      !all_.core.start(*arrived.for_whom, {id, m.type, m.depth, m.input}))
    return holding_.refuse(now, id);
  asking_.fed(*arrived.for_whom, arrived);
  beats_.hasten();
}

void node::on(instant now, address from, const none& m) { asking_.on_none(now, from, m); }

// ---- results

void node::on(instant now, address from, const task_result& m) { giving_.on_result(now, from, m); }

void node::finished(instant now, std::uint64_t id, outcome end) {
  if (member_ != membership::left && holding_.finish(now, id, std::move(end))) pursue(now);
}

void node::on(instant, address from, const result_receipt& m) { holding_.on_receipt(from, m); }
void node::on(instant, address from, const cancel& m) { holding_.on_cancel(from, m); }

void node::cancelled(instant now, std::uint64_t id) {
  if (member_ != membership::left && giving_.cancel(id)) pursue(now);
}

// ---- what nodes know of each other

void node::on(instant now, address from, const heartbeat& m) {
  peer& p = peers_[from];
  if (m.number <= p.beat) return;  // an older one, or the same again
  p.beat = m.number;
  p.beaten = now;
  peers_.set_leaving(from, m.leaving);
  const bool idle_before = std::exchange(p.state, m.state).busy == 0;
  if (m.state.busy != 0) {
    p.until.nothing = p.until.starves = {};
    if (idle_before) asking_.somebody_computes(now);
  }
  giving_.on_heartbeat(from, m);
  gathering_.on_heartbeat(now, from, m.gathered);
}

void node::on(instant now, address from, const net::leave& m) {
  peers_.set_leaving(from, true);
  if (!m.gone) return;
  gone(now, from);
  peers_.set_reachable(from, false);
}

void node::on(instant, address from, const reject& m) { peers_.refused_by(from, m); }

std::set<address> node::with_tasks() const {
  std::set<address> all;
  for (const auto& [id, t] : giving_.tasks()) all.insert(t.to);
  for (const auto& [id, t] : holding_.tasks()) all.insert(t.owner);
  return all;
}

/// The peers between which and this node there is anything that a loss would matter to.
std::set<address> node::related() const {
  std::set<address> all = with_tasks();
  asking_.add_asked(all);
  return all;
}

void node::beat(instant now) {
  const load state = all_.core.state();
  const instant since = beats_.begin(now, state.busy == 0);
  giving_.lived(with_tasks().size(), since);
  giving_.look_at_kept();
  const std::set<address> close = related();
  for (const address who : beats_.silent(now, close)) {
    lost(now, who);
    peer& p = peers_[who];
    p.state = {};
    p.until.nothing = now + all_.how.lost_after;
  }
  const auto told = gathering_.told();
  for (const address who : beats_.listeners(now, close)) send_heartbeat(who, state, told);
}

void node::send_heartbeat(address to, const load& state, std::vector<gathered_version> told) {
  peers_.send(to, heartbeat{beats_.new_number(), peers_.at(to).beat, member_ != membership::active,
                            state, holding_.of(to), std::move(told)});
}

// ---- shared values and published data

void node::improved(instant, const bytes& newest) {
  if (member_ != membership::left) values_.improved(newest);
}

void node::on(instant, address, const shared_update& m) { values_.on_update(m); }

void node::fetch_from(instant now, address publisher, std::uint64_t id) {
  publications_.fetch(now, publisher, id);
}

void node::on(instant now, address from, const fetch& m) { publications_.on_fetch(now, from, m); }
void node::on(instant now, address from, const published& m) {
  publications_.on_published(now, from, m);
}

// ---- gathered variables

void node::updated(instant now, const gathered_name& name, std::vector<bytes> updates) {
  if (member_ != membership::left) gathering_.updated(now, name, std::move(updates));
}
void node::wanted(instant now, const gathered_name& name, bool absent, std::uint64_t version) {
  if (member_ != membership::left) gathering_.wanted(now, name, absent, version);
}
void node::on(instant, address from, const gathered_updates& m) { gathering_.on_updates(from, m); }
void node::on(instant, address, const gathered_receipt& m) { gathering_.on_receipt(m); }
void node::on(instant now, address from, const gathered_news& m) {
  gathering_.on_news(now, from, m);
}
void node::on(instant, address from, const gathered_ask& m) { gathering_.on_ask(from, m); }
void node::on(instant now, address from, const gathered_value& m) {
  gathering_.on_value(now, from, m);
}

// ---- time

void node::tick(instant now) {
  if (member_ == membership::left) return;
  holding_.end_slots(now);
  asking_.give_up(now);
  holding_.resend(now);
  publications_.tick(now);
  gathering_.tick(now);
  if (beats_.is_due(now)) beat(now);
  pursue(now);
  drain(now);
}

instant node::next() const {
  if (member_ == membership::left) return instant::max();
  instant at = std::min({beats_.next(), holding_.next(), publications_.next(), gathering_.next(),
                         asking_.next(member_ == membership::active)});
  if (member_ == membership::draining) at = std::min(at, leave_by_);
  return at;
}

void node::leave(instant now, instant deadline) {
  if (member_ == membership::left) return;
  if (member_ == membership::draining) {
    leave_by_ = std::min(leave_by_, deadline);
    return drain(now);
  }
  member_ = membership::draining;
  leave_by_ = deadline;
  for (const auto& [who, p] : peers_.known())
    if (neighbours::is_open(p)) peers_.send(who, net::leave{false});
  drain(now);
}

void node::drain(instant now) {
  if (member_ != membership::draining) return;
  const bool quiet = holding_.tasks().empty() && giving_.tasks().empty() &&
                     all_.core.state().busy == 0 && !holding_.is_asked() &&
                     gathering_.has_taken(gathering_.made());
  if (!quiet && now < leave_by_) return;
  for (const auto& [who, p] : peers_.known())
    if (p.reachable) peers_.send(who, net::leave{true});
  member_ = membership::left;
}

}  // namespace cleave::net
