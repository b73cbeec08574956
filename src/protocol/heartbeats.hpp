#pragma once

#include <set>
#include <vector>

#include "protocol/neighbours.hpp"

namespace cleave::net {

/// When this node says what it does, to whom, and who has been silent for too long.
///
/// Invariant: whoever has a task of this node, or the other way round, hears from it at each beat.
class heartbeats {
public:
  heartbeats(const surroundings& all, neighbours& peers) : all_(all), peers_(peers) {}

  instant next() const { return next_at_; }
  /// The number of the last heartbeat that was sent.
  std::uint64_t last() const { return last_; }
  std::uint64_t new_number() { return ++last_; }
  /// Has the next heartbeat come soon: what the last one said of this node holds no longer.
  void hasten() { next_at_ = std::min(next_at_, at_ + all_.how.heartbeat_every / 10); }
  bool is_due(instant now) const {
    return now >= next_at_ || (told_idle_ && all_.core.state().busy != 0);
  }
  /// Begins a heartbeat, which says that nobody computes (`idle`), or that somebody does. Returns
  /// how long ago the last one was.
  instant begin(instant now, bool idle);
  /// The silent peers among those with whom there is something. Called at each beat.
  std::vector<address> silent(instant now, const std::set<address>& related);
  /// The peers that are to get a heartbeat: those with whom there is something, some of the same
  /// site in turn, and a few of the others.
  std::set<address> listeners(instant now, std::set<address> related);
  /// Lets a peer learn better that takes this process for one that was here before.
  void greet(address who);

private:
  const surroundings& all_;
  neighbours& peers_;
  std::set<address> related_;  ///< as of the last heartbeat
  std::size_t next_neighbour_ = 0;
  std::uint64_t last_ = 0;
  instant next_at_{};
  instant at_{};           ///< when the last heartbeat was sent
  bool told_idle_ = true;  ///< the last heartbeat said that nobody computes
};

}  // namespace cleave::net
