#pragma once

#include <map>
#include <set>

#include "protocol/asking.hpp"
#include "protocol/gathering.hpp"
#include "protocol/giving.hpp"
#include "protocol/heartbeats.hpp"
#include "protocol/holding.hpp"
#include "protocol/neighbours.hpp"
#include "protocol/publications.hpp"
#include "protocol/values.hpp"

/// The protocol of one node: a state machine without thread, socket or clock. Messages, events of
/// core and the time go in; messages and calls to core come out. docs/protocol.md has the rules,
/// with why each holds.
namespace cleave::net {

/// active ---leave---> draining ---nothing held and given, or deadline---> left
enum class membership : std::uint8_t { active, draining, left };

/// The node's parts do the work, each for one table; here is what concerns more than one of them.
class node {
public:
  node(const identity& self, const settings& how, core_port& core, gathered_port& gathered,
       network_port& network);
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  // The transport tells these.

  void receive(instant now, address from, const message& m);
  /// Something has come from there that is not a message yet: a part of a long one.
  void alive(instant now, address from);
  /// `site`: as transport::site() says.
  void peer_found(instant now, address who, distance how_far, std::uint64_t site);
  void peer_lost(instant now, address who);

  // Core tells these. Events of things that are over meanwhile change nothing.

  /// A local worker would block. `wanted`: 0 for anything, else the task that it gave away and
  /// waits for.
  void starving(instant now, asker who, std::uint64_t wanted);
  void satisfied(instant now, asker who);
  /// A worker has split a task for this slot. Its number may be one that was `again` before.
  void answered(instant now, unsigned slot, const traveller& task);
  /// A worker took the request on and could not split after all.
  void unanswered(instant now, unsigned slot);
  void finished(instant now, std::uint64_t task, outcome end);
  /// Nobody waits any more for a task that went out.
  void cancelled(instant now, std::uint64_t task);
  /// Shared values were improved by a worker here.
  void improved(instant now, const bytes& newest);
  void fetch_from(instant now, address publisher, std::uint64_t id);
  /// Updates of a gathered variable were made here. An empty list, at its home: its value has
  /// changed otherwise.
  void updated(instant now, const gathered_name& name, std::vector<bytes> updates);
  /// Gathered variables have been forgotten here.
  void forget_unused() { gathering_.forget_unused(); }
  /// A gathered variable's value is wanted here (`absent`), or that version of it.
  void wanted(instant now, const gathered_name& name, bool absent, std::uint64_t version);

  // The driver calls these.

  /// Takes nothing new from now on; is `left` when all is over, or at the deadline. May be said
  /// again, with an earlier one.
  void leave(instant now, instant deadline);
  /// Does what time asks for; to be called at next(), or when it suits.
  void tick(instant now);
  instant next() const;

  membership member() const { return member_; }
  const identity& self() const { return all_.self; }
  const settings& how() const { return all_.how; }

  // The driver, tests and reports read these.
  const std::map<std::uint64_t, given_task>& given() const { return giving_.tasks(); }
  const gathering& gathered() const { return gathering_; }
  const held_tasks& held() const { return holding_.tasks(); }
  const request_slots& slots() const { return holding_.slots(); }
  const std::map<address, peer>& peers() const { return peers_.known(); }

private:
  bool is_for_me(address from, const message& m);
  void meet(instant now, address from, incarnation process);
  void on(instant now, address from, const task_request& m);
  void on(instant now, address from, const task& m);
  void on(instant now, address from, const none& m);
  void on(instant now, address from, const task_result& m);
  void on(instant now, address from, const result_receipt& m);
  void on(instant now, address from, const heartbeat& m);
  void on(instant now, address from, const net::leave& m);
  void on(instant now, address from, const cancel& m);
  void on(instant now, address from, const shared_update& m);
  void on(instant now, address from, const fetch& m);
  void on(instant now, address from, const published& m);
  void on(instant now, address from, const reject& m);
  void on(instant now, address from, const gathered_updates& m);
  void on(instant now, address from, const gathered_receipt& m);
  void on(instant now, address from, const gathered_news& m);
  void on(instant now, address from, const gathered_ask& m);
  void on(instant now, address from, const gathered_value& m);
  void on(instant, address, const inquiry&) {}  // the driver answers
  void on(instant, address, const net::report&) {}
  void on(instant, address, const team_begin&) {}
  void on(instant, address, const team_data&) {}
  void on(instant, address, const team_end&) {}
  void on(instant, address, const team_cancel&) {}

  bool takes_tasks() const;
  void pursue(instant now);
  void gone(instant now, address who);
  void lost(instant now, address who);
  std::set<address> with_tasks() const;
  std::set<address> related() const;
  void beat(instant now);
  void send_heartbeat(address to, const load& state, std::vector<gathered_version> told);
  void drain(instant now);

  const surroundings all_;
  membership member_ = membership::active;
  instant leave_by_{};
  neighbours peers_;
  giving giving_;
  holding holding_;
  asking asking_;
  values values_;
  publications publications_;
  gathering gathering_;
  heartbeats beats_;
};

}  // namespace cleave::net
