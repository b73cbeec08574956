#pragma once

#include <map>
#include <optional>
#include <set>

#include "protocol/ledger.hpp"
#include "protocol/lifetimes.hpp"
#include "protocol/neighbours.hpp"

namespace cleave::net {

/// The tasks of this node that others have.
///
/// Invariant: a task is in `tasks()` from when it was sent until core is told `complete` or
/// `again`, or has cancelled it; under the attempt that was sent last.
class giving {
public:
  giving(const surroundings& all, neighbours& peers)
      : all_(all), peers_(peers), lives_(all.how.short_life / 2) {}

  /// The tasks by core's number.
  const std::map<std::uint64_t, given_task>& tasks() const { return tasks_; }
  /// The peer that was given the least split of the tasks that are away, plus one. It is never the
  /// asker.
  address hint_for(address who_asks) const;

  /// Whether a task is to stay with the root's node, which gives parts of it: where nodes live
  /// short, a task that takes long is likely lost with its thief, and would be elsewhere as well.
  bool stays(instant now, const traveller& t);
  /// Sends a task as the answer to that request. `beat` is the last heartbeat that this node has
  /// sent.
  void give(instant now, address to, std::uint64_t request, const traveller& t, std::uint64_t beat);
  void on_result(instant now, address from, const task_result& m);
  /// Takes in which tasks of this node the peer has, and which it has no longer.
  void on_heartbeat(address from, const heartbeat& m);
  /// Core waits for the task no more. Returns false if the task is not out.
  bool cancel(std::uint64_t id);
  /// Has core run all of the task again: a part of it would be lost with the node that has the
  /// rest.
  void take_all_back(std::uint64_t id);
  /// All that the peer had is run again.
  void lost(address who);
  /// A request for a part of the task, sent at `sent`, was not answered, and the peer has said
  /// nothing else since.
  void unanswered(std::uint64_t id, address by, instant sent);

  // How long nodes live.

  bool lives_are_short() const { return lives_.mean() < all_.how.short_life; }
  /// Where nodes live short, a peer that has not answered, or has said nothing for some heartbeats,
  /// is more likely dead than slow.
  bool likely_lost(instant now, const given_task& t) const;
  void lived(std::size_t nodes, instant time) { lives_.lived(nodes, time); }
  void died(instant now) { lives_.lost(), judge(now); }
  /// Looks, at each heartbeat, whether tasks were kept since the last one for nothing.
  void look_at_kept();

private:
  using entry = std::map<std::uint64_t, given_task>::iterator;
  void give_again(entry at);
  void judge(instant now);
  bool is_with(address who, const task_key& key) const;

  const surroundings& all_;
  neighbours& peers_;
  std::map<std::uint64_t, given_task> tasks_;
  std::uint64_t last_attempt_ = 0;
  lifetimes lives_;
  least_depth least_depth_;
  bool some_stayed_ = false;  ///< since the last heartbeat: tasks that were too large
};

}  // namespace cleave::net
