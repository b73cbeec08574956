#pragma once

#include <cleave/detail/graph/graph.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/replanner.hpp"
#include "graph/role_times.hpp"
#include "graph/roles.hpp"

namespace cleave::detail {

/// A member's part in planning a graph anew while it runs. Subtasks are counted from where that
/// began, on all members alike.
///
/// Invariant: no member makes a subtask beyond the limit. Only the first node raises the limit, by
/// a message to each; a new plan is in such a message, and begins at what was the limit. So every
/// member has the plan when it gets there, and nobody has gone on without it.
class replanning {
public:
  /// `prefix`: how a message to the same graph on another member begins.
  replanning(team_node& of, const machine_model& on, unsigned steps, std::vector<std::byte> prefix);

  // Only the owner of the graph calls these.

  /// Whether the owner may have to wait before it makes the next subtask.
  bool is_at_limit() const noexcept { return own_.made == own_.stop; }
  /// Tells the first node that the limit is reached.
  void tell_limit();
  /// Whether the limit has been raised.
  bool may_go_on() const noexcept { return limit_.load(std::memory_order_acquire) > own_.made; }
  /// Goes on beyond the limit, with another plan if there is one.
  void go_on();
  /// Goes on beyond any limit, as the graph is cancelled.
  void go_on_for_ever() noexcept { own_.stop = own_.tell_at = never; }
  /// Whether so much is made and not done that it is better to run some of it.
  bool is_far_ahead() const noexcept { return own_.here > times_.done() + own_.lead; }
  /// Where the next subtask is to run, if there is a plan for it.
  std::optional<unsigned> next(std::span<const datum_use> uses, std::optional<unsigned> asked);
  /// Says where the subtask will run. Returns its role.
  std::uint32_t placed(unsigned rank);
  /// All that was made is done, or dropped.
  void all_done() noexcept { own_.here = times_.done(); }

  // Any thread calls these.

  role_times& times() noexcept { return times_; }
  /// Takes in what another member has sent. Called with the team's mutex.
  void receive(byte_reader& r);

private:
  static constexpr std::uint64_t never = (std::numeric_limits<std::uint64_t>::max)();
  enum class message : std::uint8_t { reached, limit, asks, report };
  struct plan {
    std::uint64_t from;
    role_ranks ranks;
  };

  std::vector<std::byte> begin(message kind) const;
  void tell_reached();
  void has_reached(unsigned rank, std::uint64_t made);
  void begin_step();
  void report();
  void raise(std::uint64_t limit, std::optional<role_ranks> with);

  team_node& node_;
  const std::vector<std::byte> prefix_;
  roles roles_;
  role_times times_;
  struct {
    std::uint64_t made = 0;
    std::uint64_t stop;                 ///< the limit, or where a plan begins
    std::uint64_t tell_at;              ///< when the first node is told how many were made
    std::uint64_t here = 0;             ///< how many run here
    std::uint64_t before_step = 0;      ///< `here` when the step began
    std::uint64_t lead = 128;           ///< so many are made and not done at most
    std::uint32_t role = roles::none;   ///< of the last subtask
  } own_;                               // the owner's
  role_ranks ranks_;                    // the owner's: the plan
  std::atomic<std::uint64_t> limit_;    // changed with the team's mutex; release: the plans
  std::deque<plan> plans_;              // with the team's mutex
  std::vector<std::uint64_t> reached_;  // with the team's mutex: what each member has made
  std::unique_ptr<replanner> planner_;  // only on the first node
};

}  // namespace cleave::detail
