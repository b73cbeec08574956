#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocol/message.hpp"

namespace cleave::net {

/// Who has a published datum, or is getting it, and from whom: a tree whose root is the publisher,
/// which alone keeps it.
///
/// Invariant: nobody gets the datum from a node that gets it, directly or not, from itself.
class holders {
public:
  /// The publisher's site is number 0. At most `most` nodes get the datum from one.
  holders(address publisher, std::size_t most)
      : publisher_(publisher), most_(most), order_{publisher} {
    known_[publisher].from = publisher;
  }

  /// Whom a node is to get the datum from: the earliest of its own site that has room, else one
  /// there with the fewest readers; if nobody there has it, the earliest of all that has room.
  /// `readers`: how many get it from the publisher at this moment.
  address source_for(address who, std::uint64_t site, std::size_t readers) {
    leave_source(who);
    known_[publisher_].readers = readers;
    const address from = choose(who, site);
    if (known_.count(who) == 0) order_.push_back(who);
    holder& h = known_[who];
    h.site = site, h.from = from;
    ++known_[from].readers;
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
  };

  void leave_source(address who) {
    const auto at = known_.find(who);
    if (at == known_.end() || who == publisher_) return;
    const auto source = known_.find(at->second.from);
    if (source != known_.end() && source->second.readers != 0) --source->second.readers;
    at->second.from = who;  // none
  }
  address choose(address who, std::uint64_t site) const {
    std::optional<address> near, far;
    for (const address one : order_) {
      const holder& h = known_.at(one);
      const bool has_room = h.readers < most_;
      if (one == who || (h.site != site && (!has_room || far)) || gets_it_from(one, who)) continue;
      if (h.site == site && has_room) return one;
      if (h.site != site) far = one;
      else if (!near || h.readers < known_.at(*near).readers) near = one;
    }
    return near ? *near : far.value_or(publisher_);
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
  std::size_t most_;
  std::map<address, holder> known_;
  std::vector<address> order_;  ///< the publisher, then as they came
};

}  // namespace cleave::net
