#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "protocol/neighbours.hpp"

namespace cleave::net {

/// Gathered variables. Whoever makes an update sends it to the variable's home: the node that made
/// the variable. The home puts all updates in one order, and they go from there to every node.
///
/// Invariant: a replica has the first updates of its home's order, as many as its version, each
/// once. What this node has made is in `sent_` until its home has taken it and the replica has it
/// in that order.
class gathering {
public:
  gathering(const surroundings& all, neighbours& peers) : all_(all), peers_(peers) {}

  // Core tells these.

  /// This node has made updates of the variable.
  void updated(instant now, const gathered_name& name, std::vector<bytes> updates);
  /// Somebody here waits for the variable's value (`absent`), or for that version of it.
  void wanted(instant now, const gathered_name& name, bool absent, std::uint64_t version);

  void on_updates(address from, const gathered_updates& m);
  void on_receipt(const gathered_receipt& m);
  void on_news(instant now, address from, const gathered_news& m);
  void on_ask(address from, const gathered_ask& m);
  void on_value(instant now, address from, const gathered_value& m);
  void on_heartbeat(instant now, address from, const std::vector<gathered_version>& told);
  /// The versions of this node's own variables; of many some, at random.
  std::vector<gathered_version> told();

  /// Sends and asks again for what has not come, and gives up homes that are gone.
  void tick(instant now);
  /// When tick() has something to do.
  instant next() const;
  /// A peer's process is gone.
  void gone(address who);
  /// Forgets variables of other nodes that are not here any more.
  void forget_unused();

  /// How many updates this node has made so far, and whether their homes have taken the first
  /// `count` of them.
  std::uint64_t made() const { return made_; }
  bool has_taken(std::uint64_t count) const;

private:
  /// A variable of this node.
  struct order {
    std::uint64_t version = 0;               ///< how many updates are in order
    std::deque<ordered_update> newest;       ///< the last ones
    std::size_t bytes = 0;                   ///< of these
    std::map<address, std::uint64_t> taken;  ///< the last number taken, by who made the update
    std::uint64_t taken_of(address who) const {
      const auto at = taken.find(who);
      return at == taken.end() ? 0 : at->second;
    }
  };
  struct waiting {
    instant resend_at = instant::max();
    instant resend_after{};
    instant since{};
  };
  /// A variable of another node.
  struct replica {
    bool absent = false;  ///< it has no value yet
    std::uint64_t version = 0;
    std::uint64_t newest = 0;  ///< the greatest version that this node has heard of
    waiting ask;
    bool is_behind() const { return absent || version < newest; }
  };
  /// Updates of this node: from number `first` on those that its replica's value may lack when
  /// another one comes. The home has put those in order that are numbered up to `taken`.
  struct own_updates {
    std::uint64_t first = 1, taken = 0;
    std::uint64_t version = 0;  ///< those that are taken are among the first so many
    std::deque<std::pair<std::uint64_t, bytes>> updates;  ///< with made_ as it was then
    bool over = false;                                    ///< nobody takes them any more
    waiting send;
    std::size_t first_untaken() const { return static_cast<std::size_t>(taken + 1 - first); }
    bool is_taken() const { return first_untaken() == updates.size(); }
  };

  void put_in_order(const gathered_name& name, address from, std::uint64_t first,
                    const std::vector<bytes>& updates);
  void spread(const gathered_news& m);
  void send(const gathered_name& name, const own_updates& u, std::size_t from) const;
  void forget_taken(const gathered_name& name, std::uint64_t version);
  void ask(const gathered_name& name, const replica& r) const;
  void begin_asking(instant now, const gathered_name& name, replica& r) const;
  void begin(instant now, waiting& w) const;
  void again(instant now, waiting& w) const;
  bool is_over(instant now, address home, const waiting& w) const;
  void give_up(const gathered_name& name);

  const surroundings& all_;
  neighbours& peers_;
  std::map<gathered_name, order> orders_;
  std::map<gathered_name, replica> replicas_;
  std::map<gathered_name, own_updates> sent_;
  std::uint64_t made_ = 0;
};

}  // namespace cleave::net
