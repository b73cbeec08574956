#pragma once

#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/graph/graph.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cleave::detail {

/// A subtask that runs once in each round.
struct replayed {
  replayed(std::unique_ptr<subtask> s, replay& r, std::size_t n)
      : of(std::move(s)), in(r), place(n) {}

  /// What other nodes have sent for it. Guarded by the team's mutex.
  struct arrivals {
    std::uint64_t taken = 0;  // for so many rounds
    bool is_counted = false;  // what the next round needs is here, and was counted off
    std::deque<std::optional<distribution::arrived>> came;  // from that round on
  };

  const std::unique_ptr<subtask> of;
  replay& in;
  const std::size_t place;  // in a round
  std::vector<datum_use> uses;
  std::atomic<std::uint32_t> unmet{0};            // what its next run still waits for
  std::uint32_t all = 0;                          // what each run but the first waits for
  std::vector<replayed*> same_round, next_round;  // what comes after it
  std::uint64_t round = 0;                        // how often it has run
  replayed* next = nullptr;                       // in a list of those that are ready
  bool is_awaited = false;                        // it sends, or what comes after it does
  std::uint64_t transfers = 0;        // of one that sends: how many go to that node in a round
  std::unique_ptr<arrivals> arrived;  // of one that receives
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

  /// A subtask is ready, and it is not the caller's turn to run it.
  void make_ready(replayed& n) noexcept;
  /// Nothing more of this begins: all is done, or the graph is cancelled.
  void abandon() noexcept;

  // These are called with the team's mutex.

  /// Takes the k-th transfer from that node, of all rounds. Throws std::bad_alloc.
  void arrives(unsigned from, std::uint64_t k, distribution::arrived& a);
  /// Whether a place among the transfers from that node is one of these, and which one.
  bool has(unsigned from, std::uint64_t place) const noexcept {
    return place - first_places_[from] < transfers_from(from);
  }
  std::uint64_t first_place(unsigned from) const noexcept { return first_places_[from]; }
  /// How many come from that node in all rounds.
  std::uint64_t transfers_from(unsigned rank) const noexcept {
    return rounds_ * receives_[rank].size();
  }

private:
  friend class distribution;
  class runner;
  class waker;
  class last_of_all;

  void order();
  void choose_first();
  void end() noexcept;
  void run_here(replayed* ready) noexcept;
  void run_all(replayed* ready) noexcept;
  void take_elsewhere(replayed*& ready) noexcept;
  bool has_locks(replayed& n) noexcept;
  bool run(replayed& n) noexcept;
  replayed* complete(replayed& n, replayed* ready) noexcept;
  void take_arrival(replayed& n) noexcept;
  bool answer(replayed* ready) noexcept;
  void give_half(replayed* ready);
  void spawn_all(replayed*& ready) noexcept;

  graph_scope& graph_;
  const std::uint64_t rounds_;
  const std::uint64_t begun_;  // the graph's last number before
  std::uint64_t numbers_ = 0;  // how many a round has
  std::deque<replayed> all_;
  std::vector<std::pair<replayed*, replayed*>> named_;  // by after(): each comes before its second
  std::vector<std::vector<replayed*>> receives_;        // by rank
  std::vector<std::uint64_t> sent_,
      first_places_;                  // by rank: a round's transfers; of those from it
  std::atomic<std::size_t> left_{0};  // subtasks with rounds to run
  std::atomic<bool> over_{false};
  std::atomic<replayed*> elsewhere_{nullptr};  // ready, and in nobody's list
  bool owner_runs_ = false;                    // the owner's: it will look into that list
  std::atomic<std::uint64_t> usual_;           // ticks that a subtask took of late
  std::unique_ptr<waker> waker_;
  std::unique_ptr<last_of_all> last_;
};

}  // namespace cleave::detail
