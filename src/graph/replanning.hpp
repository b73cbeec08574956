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

#include "graph/progress.hpp"
#include "graph/replanner.hpp"
#include "graph/role_times.hpp"
#include "graph/roles.hpp"

namespace cleave::detail {

/// A member's part in planning a graph anew while it runs. Subtasks are counted from where that
/// began, on all members alike.
///
/// Invariant: no member makes a subtask beyond the limit. Only the first node raises the limit, by
/// a message to each; a new plan is in such a message, and begins at what was the limit. So every
/// member has the plan when it gets there, and nobody has gone on without it. The limit is some
/// steps beyond what all have done, so the slowest member never waits there.
class replanning {
public:
  /// `prefix`: how a message to the same graph on another member begins.
  replanning(team_node& of, const machine_model& on, unsigned steps, std::vector<std::byte> prefix);

  // Only the owner of the graph calls these.

  /// Whether the owner may have to wait before it makes the next subtask.
  bool is_at_limit() const noexcept { return own_.made == own_.stop; }
  /// Whether the limit has been raised.
  bool may_go_on() const noexcept { return limit_.load(std::memory_order_acquire) > own_.made; }
  /// Goes on beyond the limit, with another plan if there is one.
  void go_on();
  /// Goes on beyond any limit, as the graph is cancelled.
  void go_on_for_ever() noexcept { own_.stop = never; }
  /// Where the next subtask is to run, if there is a plan for it.
  std::optional<unsigned> next(std::span<const datum_use> uses, std::optional<unsigned> asked);
  /// Says where the subtask will run. Returns its role.
  std::uint32_t placed(unsigned rank);
  /// All that was made is done, or has thrown, or came after what has thrown.
  void all_done();
  /// Makes no more plans. Blocks while one is being made.
  void stop() noexcept {
    if (planner_ != nullptr) planner_->stop();
  }

  // Any thread calls these.

  /// Runs a subtask of that role by call().
  template <class Call>
  void run(std::uint32_t number, Call call) {
    const counted when_it_ends{*this};
    times_.run(number, call);
  }
  /// Takes in what another member has sent. Called with the team's mutex.
  void receive(byte_reader& r);

private:
  static constexpr std::uint64_t never = (std::numeric_limits<std::uint64_t>::max)();
  enum class message : std::uint8_t { done, limit, asks, report };
  struct plan {
    std::uint64_t from;
    role_ranks ranks;
  };

  struct counted {
    replanning& by;
    ~counted() {
      if (const auto done = by.done_.ran()) by.tell_done(*done);
    }
  };

  std::vector<std::byte> begin(message kind) const;
  void mark();
  void tell_done(std::uint64_t subtasks);
  bool has_done(unsigned rank, std::uint64_t subtasks);
  void begin_step();
  void report();
  void raise(std::uint64_t limit, std::optional<role_ranks> with);

  team_node& node_;
  const std::vector<std::byte> prefix_;
  roles roles_;
  role_times times_;
  struct {
    std::uint64_t made = 0;
    std::uint64_t stop;                ///< the limit, or where a plan begins
    std::uint64_t step_began = 0;      ///< `made` then
    std::uint64_t step_length = 0;     ///< of the last whole step
    std::uint32_t role = roles::none;  ///< of the last subtask
  } own_;                              // the owner's
  progress done_;
  role_ranks ranks_;                     // the owner's: the plan
  std::atomic<std::uint64_t> limit_;     // changed with the team's mutex; release: the plans
  std::deque<plan> plans_;               // with the team's mutex
  std::vector<std::uint64_t> all_done_;  // with the team's mutex: how many each member has done
  std::unique_ptr<replanner> planner_;   // only on the first node
};

}  // namespace cleave::detail
