#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/core_port.hpp"
#include "protocol/ledger.hpp"
#include "protocol/lifetimes.hpp"
#include "protocol/mutation.hpp"
#include "protocol/peers.hpp"
#include "protocol/strategy.hpp"

/// The protocol of one node: a state machine without thread, socket or clock. Messages, events of
/// core and the time go in; messages and calls to core come out. docs/protocol.md has the rules,
/// with why each holds.
namespace cleave::net {

struct identity {
  address self = 0;
  incarnation process = 0;    ///< random, not 0
  std::uint64_t program = 0;  ///< hash of the program
};

struct settings {
  instant none_after{1'000};  ///< a request that no worker has served by then is answered `none`
  instant give_up_after{1'000'000};  ///< an answer that has not come by then is not waited for
  instant give_up_soon{100'000};     ///< of a node of the same site, or where nodes live short
  instant forget_after{30'000'000};  ///< nor expected at all, after this
  unsigned late_at_most = 4;         ///< take-backs of a task; then one in give_up_after
  instant heartbeat_every{200'000};
  instant lost_after{2'000'000};   ///< silence of a peer with whom there are tasks
  instant short_life{20'000'000};  ///< of nodes: then who does not answer is likely dead
  unsigned silent_beats = 3;       ///< or has said nothing for so many heartbeats
  unsigned tasks_in_life = 16;     ///< and one task is to take no more than such a part of it
  instant resend_after{100'000};   ///< a result without rack; doubles up to lost_after
  std::size_t slowest_link = 4;    ///< bytes in a microsecond: it takes a large result so long
  instant ask_again_after{500};    ///< nothing was found; doubles up to ask_again_at_most
  instant ask_again_at_most{20'000};
  instant nothing_for{20'000};  ///< how long a `none` is believed
  instant idle_for{500'000};    ///< how long a heartbeat is that says that nobody computes
  unsigned tries = 3;           ///< peers asked in a row before there is a pause
  unsigned any_requests = 4;    ///< for anything, at a time: workers of a node share what comes
  unsigned looked_at = 64;      ///< peers, near and far, to choose one from
  unsigned neighbours = 32;     ///< near peers that get a heartbeat each time; they take turns
  unsigned gossip = 2;    ///< far peers that get a heartbeat although there is no task between
  unsigned branches = 4;  ///< of the tree by which shared values go to all
  bool hints = false;     ///< asks next whom a `none` names
  strategy whom = strategy::near_first;
};

/// active ---leave---> draining ---nothing held and given, or deadline---> left
enum class membership : std::uint8_t { active, draining, left };

template <class Policy = no_mutation>
class node {
public:
  node(identity self, settings how, core_port& core, network_port& network, Policy policy = {});

  // From the transport.

  void receive(instant now, address from, const message& m);
  /// Something has come from there that is not a message yet: a part of a long one.
  void alive(instant now, address from);
  void peer_found(instant now, address who, distance how_far);
  void peer_lost(instant now, address who);

  // From core. Events of things that are over meanwhile change nothing.

  /// A local worker would block. `wanted`: 0 for anything, else the task that it gave away and
  /// waits for.
  void starving(instant now, asker who, std::uint64_t wanted);
  void satisfied(instant now, asker who);
  /// A worker has split a task for this slot. Its number may be one that was `again` before.
  void answered(instant now, unsigned slot, const traveller& task);
  /// A worker took the request on and could not split after all.
  void unanswered(instant now, unsigned slot);
  void finished(instant now, std::uint64_t task, outcome end);
  /// A task that went out: nobody waits for it any more.
  void cancelled(instant now, std::uint64_t task);
  /// Shared values were improved by a worker here.
  void improved(instant now, bytes values);
  void fetch_from(instant now, address publisher, std::uint64_t id);

  // From the driver.

  /// Takes nothing new from now on; is `left` when all is over, or at the deadline. May be said
  /// again, with an earlier one.
  void leave(instant now, instant deadline);
  /// Does what time asks for; to be called at next(), or when it suits.
  void tick(instant now);
  instant next() const;

  membership member() const { return member_; }
  const identity& self() const { return self_; }
  const settings& how() const { return how_; }

  // For tests and reports.
  const std::map<std::uint64_t, given_task>& given() const { return given_; }
  const held_tasks& held() const { return held_; }
  const request_slots& slots() const { return slots_; }
  const std::map<address, peer>& peers() const { return peers_; }

private:
  struct hunger {
    std::uint64_t wanted = 0;
    std::uint64_t request = 0;  ///< 0: none is open
    instant retry_at{};
    instant late_until{};
    instant pause{};
  };
  using hungry_worker = typename std::map<asker, hunger>::iterator;
  struct fetching {
    instant since{};
    instant resend_at{};
    instant resend_after{};  ///< doubles: what is large may only be slow
  };

  // protocol_messages.hpp: what each message does
  bool is_for_me(address from, const message& m);
  peer& sender(instant now, address from, incarnation process);
  void refuse(address from, peer& p, const message& m);
  void on(instant now, address from, const treq& m);
  void on(instant now, address from, const task& m);
  void on(instant now, address from, const none& m);
  void on(instant now, address from, const rslt& m);
  void on(instant now, address from, const rack& m);
  void on(instant now, address from, const heartbeat& m);
  void on(instant now, address from, const net::leave& m);
  void on(instant now, address from, const cancel& m);
  void on(instant now, address from, const shared_update& m);
  void on(instant now, address from, const fetch& m);
  void on(instant now, address from, const published& m);
  void on(instant now, address from, const reject& m);
  void on(instant, address, const inquiry&) {}  // the driver answers
  void on(instant, address, const net::report&) {}
  void on(instant, address, const team_begin&) {}
  void on(instant, address, const team_data&) {}
  void on(instant, address, const team_end&) {}
  void on(instant, address, const team_cancel&) {}
  std::optional<std::uint64_t> split_for(address from, const treq& m) const;
  hungry_worker taker_of(std::uint64_t request);
  void judge(instant now);
  bool stays(instant now, const traveller& t);
  address hint_for(address from) const;
  void set_leaving(address who, peer& p, bool leaves);
  void spread(address last, const bytes& values);

  // protocol_asking.hpp: requests of this node
  void pursue(instant now);
  bool likely_lost(instant now, const given_task& t) const;
  void take_all_back(hunger& h);
  void ask_any(instant now, asker who, hunger& h);
  void take_back(instant now, asker who, hunger& h);
  void request(instant now, asker who, hunger& h, address to, task_key wanted);
  std::optional<address> whom_to_ask(instant now);
  bool may_have_work(instant now, address who, const peer& p) const;
  void in_vain(instant now, std::uint64_t number, const sent_request& r);
  void give_up(instant now);

  // protocol_time.hpp: what happens without a message
  void gone(instant now, address who);
  void lost(instant now, address who);
  void forget_served(address who);
  void end_fetches(address publisher);
  void end_slots(instant now);
  void resend(instant now);
  void fetch_again(instant now);
  void beat(instant now);
  /// The next one soon: what the last one said of this node holds no longer.
  void hasten_beat() { next_beat_ = std::min(next_beat_, beat_at_ + how_.heartbeat_every / 10); }
  void send_heartbeat(address to, const load& state);
  std::set<address> related() const;
  std::set<address> with_tasks() const;
  std::set<address> find_lost(instant now);
  std::set<address> listeners(instant now, std::set<address> close);
  void drain(instant now);

  template <class Body>
  void send(address to, Body body);
  void give_again(std::map<std::uint64_t, given_task>::iterator at);
  void end_held(std::uint64_t id);
  void send_result(instant now, held_task& t);
  void free_slot(unsigned slot);

  identity self_;
  settings how_;
  core_port& core_;
  network_port& network_;
  Policy policy_;
  random_numbers random_;

  membership member_ = membership::active;
  instant leave_by_{};
  std::map<address, peer> peers_;
  lifetimes lives_;
  least_depth least_depth_;
  reachable_peers reachable_;   ///< of those, without those of other programs
  std::set<address> leaving_;   ///< of those: they are asked first
  std::set<address> fetchers_;  ///< of those: they ask for data
  std::set<address> related_;   ///< as of the last heartbeat
  std::size_t next_neighbour_ = 0;
  std::map<std::uint64_t, given_task> given_;  ///< by core's number
  held_tasks held_;
  request_slots slots_;
  std::map<std::uint64_t, sent_request> sent_;  ///< by request
  std::map<asker, hunger> hungry_;
  std::map<std::pair<address, std::uint64_t>, fetching> fetching_;
  /// What was sent to whom who asked for it: until then it may be on its way.
  std::map<std::pair<address, std::uint64_t>, instant> served_;

  std::uint64_t last_request_ = 0;
  std::uint64_t last_attempt_ = 0;
  std::uint64_t last_beat_ = 0;
  unsigned open_any_ = 0;
  unsigned misses_ = 0;  ///< of requests for anything, in a row
  instant any_retry_at_{};
  instant any_pause_{};
  std::optional<address> hint_;
  instant next_beat_{};
  instant beat_at_{};         ///< the last one
  bool told_idle_ = true;     ///< by it
  bool some_stayed_ = false;  ///< tasks, since it, that were too large
};

extern template class node<no_mutation>;

}  // namespace cleave::net
