#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "protocol/peers.hpp"
#include "protocol/settings.hpp"

namespace cleave::net {

/// The peers of a node, and how it speaks to them.
///
/// Invariant: `reachable()` lists the peers that can be reached and run this program; `leaving()`
/// those that have said that they take nothing new. A peer once known is remembered.
class neighbours {
public:
  explicit neighbours(const surroundings& all) : all_(all), random_(all.self.process) {}

  const std::map<address, peer>& known() const { return peers_; }
  const reachable_peers& reachable() const { return reachable_; }
  const std::set<address>& leaving() const { return leaving_; }
  random_numbers& random() { return random_; }

  /// The peer at that address, which is known from now on.
  peer& operator[](address who) { return peers_[who]; }
  const peer& at(address who) const { return peers_.at(who); }
  peer* find(address who) {
    const auto at = peers_.find(who);
    return at == peers_.end() ? nullptr : &at->second;
  }
  /// Whether messages may be sent to the peer.
  static bool is_open(const peer& p) { return p.reachable && !p.foreign; }

  void found(address who, distance how_far, std::uint64_t site);
  void set_reachable(address who, bool is);
  /// Another process than before is at that address; of the old one nothing holds any more.
  void replaced(address who, incarnation process);
  void set_leaving(address who, bool leaves);
  /// Nothing passes between nodes of two programs, or of two versions of this protocol.
  void refuse(address from, const message& m);
  void refused_by(address from, const reject& m);

  /// The peer asks for data of this node, and gets heartbeats until `until`.
  void fetches(address who, instant until);
  /// The peers that ask for data of this node at this moment.
  const std::set<address>& fetchers(instant now);

  template <class Body>
  void send(address to, Body body) const {
    const auto at = peers_.find(to);
    const incarnation process = at == peers_.end() ? 0 : at->second.process;
    all_.network.send(to, {all_.self.program, all_.self.process, process, std::move(body)});
  }

  /// Sends to the peers after this one on the ring of addresses, up to `last`: to the first of each
  /// of a few stretches, which passes on within its own. `message_up_to` makes what goes to the one
  /// whose stretch ends there.
  template <class Make>
  void spread(address last, unsigned branches, Make message_up_to) const {
    const std::vector<address> all = on_ring_up_to(last);
    const std::size_t n = std::min<std::size_t>(branches, all.size());
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = all.size() * i / n, end = all.size() * (i + 1) / n;
      send(all[first], message_up_to(all[end - 1]));
    }
  }

private:
  std::vector<address> on_ring_up_to(address last) const;

  const surroundings& all_;
  std::map<address, peer> peers_;
  reachable_peers reachable_;
  std::set<address> leaving_;
  std::set<address> fetchers_;
  random_numbers random_;
};

}  // namespace cleave::net
