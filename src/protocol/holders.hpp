#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocol/message.hpp"

namespace cleave::net {

/// Who has a published datum, or is getting it, and from whom: a tree whose root is the publisher,
/// which alone keeps it. It is a chain as long as the way along it takes little beside the datum
/// itself, as then each node sends all parts once; beyond that it branches.
///
/// Invariant: nobody gets the datum from a node that gets it, directly or not, from itself.
class holders {
public:
  /// The publisher's site is number 0. One node gets the datum from each other one, up to
  /// `longest_chain` nodes from the publisher; beyond that at most `most` do.
  holders(address publisher, std::size_t most, std::size_t longest_chain)
      : publisher_(publisher), most_(most), longest_chain_(longest_chain), order_{publisher} {
    known_[publisher].from = publisher;
  }

  /// Whom a node is to get the datum from: the end of a chain at its own site, else the earliest
  /// there that has room, else one there with the fewest readers; if nobody there has it, the same
  /// of all that have room. `readers`: how many get it from the publisher at this moment.
  address source_for(address who, std::uint64_t site, std::size_t readers) {
    leave_source(who);
    known_[publisher_].readers = readers;
    const address from = choose(who, site);
    if (known_.count(who) == 0) order_.push_back(who);
    holder& h = known_[who];
    h.site = site, h.from = from;
    holder& source = known_[from];
    h.depth = source.depth + 1;
    ++source.readers;
    return from;
  }
  /// That node is gone, or does not send.
  void forget(address who) {
    if (who == publisher_ || known_.count(who) == 0) return;
    leave_source(who);
    known_.erase(who);
    std::erase(order_, who);
  }

private:
  struct holder {
    std::uint64_t site = 0;
    address from = 0;  ///< the publisher's is itself
    std::size_t readers = 0;
    std::size_t depth = 0;
  };

  void leave_source(address who) {
    const auto at = known_.find(who);
    if (at == known_.end() || who == publisher_) return;
    const auto source = known_.find(at->second.from);
    if (source != known_.end() && source->second.readers != 0) --source->second.readers;
    at->second.from = who;  // none
  }
  enum class room { none, some, end_of_chain };
  room room_of(const holder& h) const {
    if (h.readers == 0 && h.depth < longest_chain_) return room::end_of_chain;
    return h.readers < most_ ? room::some : room::none;
  }
  address choose(address who, std::uint64_t site) const {
    std::optional<address> near, far;
    for (const address one : order_) {
      const holder& h = known_.at(one);
      const bool is_near = h.site == site;
      if (one == who || (!is_near && room_of(h) == room::none)) continue;
      std::optional<address>& best = is_near ? near : far;
      if ((!best || is_better(h, known_.at(*best))) && !gets_it_from(one, who)) best = one;
    }
    return near ? *near : far.value_or(publisher_);
  }
  bool is_better(const holder& a, const holder& b) const {
    if (room_of(a) != room_of(b)) return room_of(a) > room_of(b);
    return room_of(a) == room::none && a.readers < b.readers;
  }
  bool gets_it_from(address one, address who) const {
    while (one != publisher_) {
      const auto at = known_.find(one);
      if (at == known_.end() || at->second.from == one) return false;
      one = at->second.from;
      if (one == who) return true;
    }
    return false;
  }

  address publisher_;
  std::size_t most_, longest_chain_;
  std::map<address, holder> known_;
  std::vector<address> order_;  ///< the publisher, then as they came
};

}  // namespace cleave::net
