#pragma once

#include "protocol/core_port.hpp"
#include "protocol/mutation.hpp"
#include "protocol/strategy.hpp"

/// The numbers that decide what a node does and when, and what all parts of a node use.
namespace cleave::net {

struct identity {
  address self = 0;
  incarnation process = 0;    ///< random, not 0
  std::uint64_t program = 0;  ///< hash of the program
};

/// Requests: how long one is waited for, whom to ask, and when again.
struct asking_settings {
  instant none_after{1'000};  ///< a request that no worker has served by then is answered `none`
  instant give_up_after{1'000'000};  ///< an answer that has not come by then is not waited for
  /// give_up_after for a near node; it is thrice this for others where lives are short.
  instant give_up_soon{100'000};
  instant forget_after{30'000'000};  ///< an answer that has not come by then is not expected
  unsigned late_at_most = 4;         ///< late take-backs of a task; then one in give_up_after
  instant ask_again_after{500};      ///< nothing was found; doubles up to ask_again_at_most
  instant ask_again_at_most{20'000};
  instant nothing_for{20'000};  ///< how long a `none` is believed
  instant idle_for{500'000};    ///< how long a heartbeat is believed that says that nobody computes
  unsigned tries = 3;           ///< peers asked in a row before there is a pause
  unsigned any_requests = 4;    ///< requests for anything at a time: workers share what comes
  unsigned looked_at = 64;      ///< peers, near and far, to choose one from
  bool hints = false;           ///< asks next whom a `none` names
  strategy whom = strategy::near_first;
  unsigned site_nodes = 0;  ///< relay_random: nodes that each site is taken to have; 0: as it has

  /// Follows a strategy. Tascell's nodes have one request under way, for all their workers.
  void follow(const preference& p) {
    whom = p.how, site_nodes = p.site_nodes;
    if (whom == strategy::relay || whom == strategy::relay_random) any_requests = 1;
  }
};

/// Heartbeats, and when a peer is lost.
struct liveness_settings {
  instant heartbeat_every{200'000};
  instant lost_after{2'000'000};   ///< silence of a peer with whom there are tasks
  instant short_life{20'000'000};  ///< where nodes live shorter, a silent one is likely dead
  unsigned silent_beats = 3;       ///< there it is silent after so many missing heartbeats
  unsigned tasks_in_life = 16;     ///< one task is to take no more than such a part of a life
  unsigned neighbours = 32;        ///< near peers that get a heartbeat each time; they take turns
  unsigned gossip = 2;  ///< far peers that get a heartbeat although there is no task between
};

/// Results and data on their way.
struct carrying_settings {
  instant resend_after{100'000};     ///< a result without result_receipt; doubles up to lost_after
  std::size_t slowest_link = 4;      ///< bytes in a microsecond: how long a large result takes
  unsigned update_branches = 4;      ///< branches of the tree by which shared values go to all
  std::size_t small_bytes = 65'536;  ///< published data up to this go at once to all that ask
  std::size_t part_bytes = 131'072;  ///< larger ones go in parts of this size
  unsigned parts_ahead = 8;          ///< that are sent before the receiver asks for more
  unsigned readers = 2;              ///< nodes that get a datum from one at a time
  instant keep_published{10'000'000};  ///< a copy that nobody has read for so long is freed
  std::size_t gathered_log = 1 << 20;  ///< bytes of its last updates that a home keeps for others
  std::size_t gathered_told = 32;      ///< gathered variables whose versions are in a heartbeat
};

struct settings : asking_settings, liveness_settings, carrying_settings {
  mutation planted = mutation::none;  ///< set by the simulator only
};

/// What all parts of a node use. None of it changes but by calls of the ports.
struct surroundings {
  const identity self;
  const settings how;
  core_port& core;
  gathered_port& gathered;
  network_port& network;

  /// Whether this node is to break that rule.
  bool breaks(mutation rule) const { return how.planted == rule; }
};

}  // namespace cleave::net
