#pragma once

#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/graph/graph.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/round_transfers.hpp"

namespace cleave::detail {

class watch;

/// A subtask that runs once in each round.
struct replayed {
  replayed(std::unique_ptr<subtask> s, replay& r, std::size_t n)
      : of(std::move(s)), in(r), place(n) {}

  const std::unique_ptr<subtask> of;
  replay& in;
  const std::size_t place;              // in a round
  std::atomic<std::uint32_t> unmet{0};  // what its next run still waits for
  std::uint32_t all = 0;                // what each run but the first waits for
  struct {
    std::vector<replayed*> same_round, next_round;
  } later;                   // what comes after it
  std::uint64_t round = 0;   // how often it has run
  replayed* next = nullptr;  // in a list of those that are ready
  bool sends = false, is_call = false;
  bool is_awaited = false;                  // it sends, or what comes after it does
  std::unique_ptr<round_arrivals> arrived;  // of one that receives
};

/// What has been recorded of the first round.
struct recorded_round {
  std::vector<std::vector<datum_use>> uses;             // of each subtask
  std::vector<std::pair<replayed*, replayed*>> before;  // by after(): each comes before its second
};

/// Subtasks that are ready, and in the list of no worker: by a message, by a lock, or because the
/// worker whose list they were in does not run them.
///
/// As a task it runs them. It is pending, or runs, while that may be needed: while it is not,
/// whoever adds some makes it pending. Both do so by an exchange of `is_pending_`, so one of them
/// sees the other.
class unlisted_subtasks final : public group_task {
public:
  unlisted_subtasks(graph_scope& g, replay& r) noexcept : group_task(g), of_(r) { name = "repeat"; }

  // Any thread calls these.

  /// Adds a list of some, at least one.
  void add(replayed* first) noexcept;
  bool any() const noexcept { return first_.load(std::memory_order_relaxed) != nullptr; }
  /// Puts all that there are in front of this list.
  void take(replayed*& ready) noexcept;

  void execute() noexcept override;
  void dispose() noexcept override;

  /// Whether the graph's owner is about to take what there is. Only the owner touches it.
  bool owner_takes = false;

private:
  void wake() noexcept;

  replay& of_;
  std::atomic<replayed*> first_{nullptr};
  std::atomic<bool> is_pending_{false};
};

/// What repeat() was given: the subtasks of a round, which are made once, and run in all rounds.
///
/// What a subtask waits for is a number that is the same in each round but the first. For that no
/// subtask may be told twice between two of its runs: that holds because two subtasks of which one
/// comes after the other use a datum of which both are not only readers, and so run in turns. A
/// subtask that comes after no other one counts itself.
///
/// Who runs a subtask runs one that this makes ready next, and keeps the others in a list. Of that
/// list it gives a half to a worker that asks, after the subtask that it is in. So short subtasks
/// cost no task each. Long ones do, and are not kept in a list: nobody waits for a subtask to end.
class replay {
public:
  replay(graph_scope& g, std::uint64_t rounds);
  ~replay();
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;

  // The owner of the graph calls these.

  /// Keeps a subtask of the first round. Throws std::bad_alloc.
  vertex_ref record(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                    std::span<const vertex_ref> after, std::uint64_t number);
  /// Runs all rounds. Returns when they are done here, or the graph was cancelled. Throws
  /// std::bad_alloc; then nothing has run.
  void run();

  // Any thread calls these.

  /// The subtask is ready, and it is not the caller's turn to run it.
  void make_ready(replayed& n) noexcept { n.next = nullptr, make_all_ready(&n); }
  /// The same for those of a list; null: it has none.
  void make_all_ready(replayed* first) noexcept;
  /// Something that it waits for is done. Returns whether it was the last.
  static bool count_off(replayed& n) noexcept;
  /// Nothing more of this begins: all is done, or the graph is cancelled.
  void abandon() noexcept;

private:
  friend class unlisted_subtasks;
  class runner;
  class last_of_all;

  void order();
  void group_sends();
  void choose_first();
  void end() noexcept;
  void run_here(replayed* ready) noexcept;
  void run_all(replayed* ready, watch* messages = nullptr) noexcept;
  bool has_unsent() const noexcept;
  bool is_to_leave(const replayed& next, std::uint64_t held_since) const noexcept;
  bool has_locks(replayed& n) noexcept;
  bool run(replayed& n) noexcept;
  replayed* complete(replayed& n, replayed* ready) noexcept;
  static void take_arrival(replayed& n) noexcept;
  bool answer(replayed* ready) noexcept;
  void give_half(replayed* ready);
  void spawn_all(replayed*& ready) noexcept;

  graph_scope& graph_;
  const std::uint64_t rounds_;
  const std::uint64_t begun_;  // the graph's last number before
  std::uint64_t numbers_ = 0;  // how many a round has
  std::deque<replayed> all_;
  recorded_round recorded_;
  std::unique_ptr<round_transfers> between_;  // null: there is one node
  std::atomic<std::size_t> left_{0};          // subtasks with rounds to run
  std::atomic<bool> over_{false};
  unlisted_subtasks unlisted_;
  std::atomic<std::uint64_t> usual_;  // ticks that a subtask took of late
  std::unique_ptr<last_of_all> last_;
};

}  // namespace cleave::detail
