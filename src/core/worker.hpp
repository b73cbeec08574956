#pragma once

#include "core/cutoff.hpp"
#include "core/deque.hpp"
#include "core/protocol.hpp"
#include "trace/recorder.hpp"
#include "trace/strand_clock.hpp"

#include <cleave/detail/task.hpp>
#include <cleave/runtime.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace cleave::detail {

/// The machine's own atomics and futex.
struct native {
  template <class T>
  using atomic = std::atomic<T>;
  using cutoff = std::atomic<std::uintptr_t>;
  static void block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    bool nap) noexcept;
  static void wake(const std::atomic<std::uint32_t>& word) noexcept;
};

class pool;

/// The frames on one worker's stack, as far as its slow path has seen them, from the outermost inward. Each frame
/// is walked over once after its push, so that finding the oldest with something to give costs an amortised
/// constant. Owner only.
class frame_list {
public:
  /// Takes in the frames pushed since, drops those popped. Throws std::bad_alloc.
  void update(frame* innermost);

  /// The oldest frame with something to give that belongs to `wanted` or below (null: any). Sets `mine` to
  /// whether there is such a scope on this stack.
  frame* oldest(const scope* wanted, bool& mine);

  /// From now on none of the frames on the list is given as the oldest, until they are gone: steps that are on no list
  /// may have been made since. Throws std::bad_alloc.
  void block(frame* innermost) {
    update(innermost);
    blocked = static_cast<std::uint32_t>(seen_.size());
  }
  std::uint32_t blocked = 0;  // how many, from the outermost

  /// The scope that a frame belongs to; null: the one of a thread that is no worker.
  scope* scope_of(const frame& f) const noexcept;

  /// Goes back to the moment when f was pushed: undoes the steps made since, innermost first.
  void undo_to(const frame& f) noexcept;
  void redo_from(const frame& f) noexcept;

  std::size_t size() const noexcept { return seen_.size(); }
  std::uint64_t searched = 0;
  std::uint64_t undone = 0;

private:
  scope_frame& scope_at(std::size_t k) const noexcept {
    return *static_cast<scope_frame*>(seen_[scopes_[k]]);
  }

  std::vector<frame*> seen_;
  std::vector<std::uint32_t> steps_;   // where in seen_ the steps are
  std::vector<std::uint32_t> scopes_;  // and the scopes
};

/// One thread that computes. Everything but the mailbox, the deque and the counters belongs to that thread alone.
class worker {
public:
  worker(pool& p, unsigned number) noexcept;

  /// The life of a worker: find work or sleep until the pool stops.
  void work();

  /// Runs a task here and tells whoever waits for it.
  void execute(task& t) noexcept;

  /// Serves the signals of the polled word; `at` is where on the stack. Throws `cancelled`, and what a put threw.
  void answer_in_body(std::uintptr_t at);
  void answer(std::uintptr_t at);
  /// Waits until the task is done, or takes it back and runs it.
  void join(task& t) noexcept;
  /// Waits until the task is done, without helping, unless nobody had begun it.
  void await_abandoned(task& t) noexcept;
  /// Runs and helps with tasks of the group until none is left.
  void wait(group_scope& group) noexcept;
  void spawn(task& t);

  std::uint64_t begin_timing(std::uintptr_t at) noexcept;
  void end_timing(std::uint64_t since, std::uintptr_t address) noexcept;

  mailbox<native>& box() noexcept { return box_; }
  counters read_counters() const noexcept;

  pool& of;
  const unsigned id;
  deque ready;

private:
  enum count : unsigned {
    splits,
    spawns,
    requests,
    takebacks,
    undone,
    sleeps,
    searched,
    deepest,
    counts
  };

  void serve_askers();
  /// The next to run, waiting for it; null: the pool stops.
  task* next_task() noexcept;
  /// Brings the frame list up to date.
  void look();
  /// Goes back to when f was pushed, makes a task of half of it, and returns. Throws what put threw.
  task& split(frame& f);
  void split_everywhere();
  void run_as_spawned(task& t);
  void respond() noexcept;
  /// A ready task of the group from this worker's own deque, wherever in it it lies.
  task* take_ready(const scope* group) noexcept;
  task* find_ready(const scope* group) noexcept;
  template <class Ready>
  task* obtain(const scope* wanted, worker* likely, Ready ready) noexcept;
  std::size_t depth_of(std::uintptr_t address) const noexcept {
    return address < stretch_.base ? stretch_.base - address : 0;
  }
  bool over_soon() noexcept;
  bool preempted_since(std::uint64_t then) noexcept;
  /// Before frames are looked for, by code at this address: leaves out those that must not be divided now.
  void enter_slow_path(std::uintptr_t at);
  /// After it: sets the cutoff again.
  void leave_slow_path() noexcept;
  /// Whether an undivided construct is under way and others run in it that can be divided: others are needed, however short
  /// what they stand for.
  bool below_blocked_frames() const noexcept {
    return stretch_.undivided_below != 0 && !stretch_.cutoff_was_set;
  }
  /// No undivided construct is under way.
  void all_is_on_the_list() noexcept;
  void add(count c) noexcept;
  void set(count c, std::uint64_t n) noexcept;

  mailbox<native> box_;
  frame_list frames_;
  /// Where on the stack undivided constructs may be, with steps that are on no list. A task that runs inside of another
  /// (a join helps) has its own.
  struct stretch {
    std::uintptr_t base = 0;             // the address that counts as depth 0; 0: no construct yet
    std::size_t depth = 0;               // of the first construct in the task
    std::uintptr_t undivided_below = 0;  // on the stack; 0: all that runs is on the list
    bool cutoff_was_set = false;         // since frames were last looked at: more may have begun
    std::uint32_t polls = 0;             // in an undivided construct, while somebody insists
    std::uint64_t insisted = 0;          // when the first of them was
    std::uint32_t blocked = 0;  // frames of the tasks around this one that must not be divided
  };
  stretch begin_stretch(std::size_t depth) noexcept;
  void end_stretch(const stretch& outer) noexcept;

  trace::recorder* const recorder_;     // null: nothing is recorded
  trace::strand_clock* const strands_;  // null: this is no profile
  cutoff_learner cutoff_;
  stretch stretch_;
  std::uint64_t shared_at_ = 0;      // when this worker last gave something away, or joined it
  long preemptions_ = 0;             // of this thread, when last asked
  std::uint64_t preempted_at_ = 0;   // when it was last asked and there had been one
  std::uint64_t timing_since_ = 0;   // when the last timing began
  std::uint32_t until_timed_ = 0;    // and what here.until_timed was then
  std::uintptr_t polling_in_ = 0;    // the construct in whose body polls are in vain
  std::uint64_t polling_since_ = 0;  // and since when; 0: they are not
  bool interrupted_ = false;         // an attention arrived while this worker could not throw
  std::uint32_t random_;
  std::array<std::atomic<std::uint64_t>, counts> counted_{};
};

}  // namespace cleave::detail
