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
  const std::size_t place;  // in a round
  std::vector<datum_use> uses;
  std::atomic<std::uint32_t> unmet{0};            // what its next run still waits for
  std::uint32_t all = 0;                          // what each run but the first waits for
  std::vector<replayed*> same_round, next_round;  // what comes after it
  std::uint64_t round = 0;                        // how often it has run
  replayed* next = nullptr;                       // in a list of those that are ready
  bool sends = false, is_call = false;
  bool is_awaited = false;                  // it sends, or what comes after it does
  std::unique_ptr<round_arrivals> arrived;  // of one that receives
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
  class runner;
  class waker;
  class last_of_all;

  void order();
  void group_sends();
  void choose_first();
  void end() noexcept;
  void run_here(replayed* ready) noexcept;
  void run_all(replayed* ready, watch* messages = nullptr) noexcept;
  bool has_unsent() const noexcept;
  bool is_to_leave(const replayed& next, std::uint64_t held_since) const noexcept;
  void take_elsewhere(replayed*& ready) noexcept;
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
  std::vector<std::pair<replayed*, replayed*>> named_;  // by after(): each comes before its second
  std::unique_ptr<round_transfers> between_;            // null: there is one node
  std::atomic<std::size_t> left_{0};                    // subtasks with rounds to run
  std::atomic<bool> over_{false};
  std::atomic<replayed*> elsewhere_{nullptr};  // ready, and in nobody's list
  bool owner_runs_ = false;                    // the owner's: it will look into that list
  std::atomic<std::uint64_t> usual_;           // ticks that a subtask took of late
  std::unique_ptr<waker> waker_;
  std::unique_ptr<last_of_all> last_;
};

}  // namespace cleave::detail
