#pragma once

#include "core/frame_list.hpp"
#include "core/poll_gaps.hpp"
#include "core/ready_tasks.hpp"
#include "core/task_slab.hpp"
#include "cutoff/cutoff.hpp"
#include "requests/native.hpp"
#include "requests/protocol.hpp"
#include "trace/recorder.hpp"
#include "trace/strand_clock.hpp"

#include <cleave/detail/task.hpp>
#include <cleave/statistics.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

namespace cleave::detail {

class pool;
class watch;

/// Throws `cancelled` if the current scope is.
void throw_if_stopped();
/// Whether an exception unwinds the stack in a cancelled scope. Destructors may use constructs, and
/// must not throw: then no poll does, and nothing is given away, as it would be dropped.
bool unwinds_in_stopped() noexcept;

/// One thread that computes. Everything but the mailbox, the ready tasks and the counters belongs
/// to that thread alone.
class worker {
public:
  worker(pool& p, unsigned number) noexcept;

  /// The life of a worker: find work or sleep until the pool stops.
  void work();

  /// Serves the signals of the polled word. Throws `cancelled`, and what a put threw.
  void answer(std::uintptr_t construct);

  /// Runs a task here and tells whoever waits for it.
  void execute(task& t) noexcept;
  /// Runs a root task for its caller, who is this thread, and hands over what is left of others.
  /// For so many ticks from the first look on, requests for parts of it are not answered. `now` and
  /// what is returned are as in run().
  std::uint64_t run_as_guest(task& root, std::uint64_t now, std::uint64_t undivided_for) noexcept;
  /// Serves the signals of a worker that waits. Owner only.
  void answer_while_waiting() noexcept;
  /// Waits until the task is done, or takes it back and runs it.
  void join(task& t) noexcept;
  /// Waits until the task is done, without helping, unless nobody had begun it.
  void await_abandoned(task& t) noexcept;

  /// Takes the task over. Throws std::bad_alloc, `cancelled`, and what a put threw.
  void spawn(group_task& t);
  /// Takes a ready task over that is not spawned here, for this worker alone. Owner only. Returns
  /// false if there are other workers, who may have to be told, or memory is lacking.
  bool keep_ready(task& t) noexcept;
  std::uint64_t path_position() const noexcept {
    return recordings_.strands != nullptr ? recordings_.strands->position() : 0;
  }
  /// Runs a ready task of the group, or of one further in, wherever it is. Returns false if there
  /// is none.
  bool help(group_scope& group) noexcept;
  /// Runs and helps with tasks of the group until none is left.
  void wait(group_scope& group) noexcept;
  /// The same, or until `enough` returns true; whoever makes it true rings `news` then.
  void wait(group_scope& group, const std::function<bool()>& enough) noexcept;

  /// Waits until `holds` returns true and serves requests meanwhile; whoever makes it true rings
  /// `news` then. Returns false at once while the worker serves a request: then it runs the
  /// program's code for the part that it gives.
  bool await(const std::function<bool()>& holds, message_watch& messages) noexcept;

  std::uint64_t begin_timing(std::uintptr_t construct) noexcept;
  void end_timing(std::uint64_t since, std::uintptr_t construct) noexcept;

  mailbox<native>& box() noexcept { return box_; }
  counters read_counters() const noexcept;

  pool& of;
  const unsigned id;
  ready_tasks ready;
  watch* glances = nullptr;  // the one that goes on between tasks, until this worker waits
  task_slab slab;            // of the tasks that this worker spawns

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
  struct persistence;
  class computing;
  /// What the worker knows as a victim.
  struct answering {
    bool under_way = false;             // a split is
    const frame* put_off = nullptr;     // what was put off last ...
    std::uint64_t put_off_since = 0;    // ... and the tick since when
    std::uint64_t computes_until = 0;   // the tick at which no answer counts any more
    std::uint64_t undivided_for = 0;    // how long a guest gives nothing, from its first look on
    std::uint64_t undivided_until = 0;  // the tick before which it gives nothing
    poll_gaps gaps;
  };

  /// What the worker knows as a thief.
  struct seeking {
    std::uint32_t random;                // chooses whom to ask
    bool was_given = false;              // what it ran last, as an idle worker, was given to it
    bool from_brief_guest = false;       // the last task is a part of one of several short runs
    std::atomic<std::uint64_t> took{0};  // ticks of the task that ended last here; others read it
  };
  /// Where its activities are recorded.
  struct recordings {
    trace::recorder* const trace;        // null: there is no trace
    trace::strand_clock* const strands;  // null: this is no profile
    const bool none = trace == nullptr && strands == nullptr;
  };

  // What the worker does as a victim.
  void answer_between_tasks() noexcept;
  bool answered_enough(std::uint64_t now) noexcept;
  void count_answer(std::uint64_t begin) noexcept;
  void look(bool rung, std::uint64_t begin);
  bool puts_off(const frame& oldest, bool asker_waits, std::uint64_t now) noexcept;
  void serve(bool again_soon, std::uint64_t begin);
  /// Brings the frame list up to date.
  void update_frames();
  /// Goes back to when f was pushed, makes a task of half of it, and returns. Throws what put
  /// threw.
  task& split(frame& f, unsigned shares);
  void divide_here();
  /// Says what a worker would have been given, where another node got nothing.
  void tell_what_stays(const scope* wanted, std::uint32_t depth, std::uint64_t tick) noexcept;

  // What the worker does as a thief.
  /// Waits for the next task to run; returns null if the pool stops.
  task* next_task() noexcept;
  template <class Enough>
  void wait_for(group_scope& group, Enough enough) noexcept;
  /// Calls steal() for the ready tasks of one worker after the other, until it returns a task; else
  /// null.
  template <class Steal>
  task* steal_from_all(Steal steal) noexcept;
  task* steal_ready() noexcept;
  /// Takes a ready task of a group that is `awaited` or below it: one that is no worker's, or the
  /// oldest that a worker has. Returns null if none is found.
  task* find_ready(const scope& awaited) noexcept;
  /// Takes the newest of this worker's ready tasks that are of the group, or null.
  task* take_ready(const group_scope& group) noexcept;
  bool leave_to_any(task& t) noexcept;
  /// Takes a task of the group, or of one further in, or null.
  task* find_task(const group_scope& group) noexcept;
  template <class Finished>
  task* obtain(const scope* wanted, unsigned likely, Finished finished) noexcept;

  void run_as_spawned(group_task& t);
  /// Runs a task of a group that this worker waits for, taken from its own ready tasks: it computes
  /// as this worker does, at the same depth, and no clock is read.
  void execute_own(task& t) noexcept;
  /// Runs a task that was found for a group.
  void execute_of(const group_scope& group, task& t) noexcept;
  /// Runs a part of what this worker waits for, and answers.
  void execute_part(task& t) noexcept;
  /// `now` is the current tick. Returns the one at which the task has ended; with 0 no clock is
  /// read, and that is 0.
  std::uint64_t run(task& t, std::uint64_t now) noexcept;
  void finish(task& t) noexcept;
  bool reclaim(task& t) noexcept;
  void linger(const task& t) const noexcept;
  void set_cutoff() noexcept { box_.set_cutoff(cutoff_.address()); }
  void add(count c) noexcept;
  void set(count c, std::uint64_t n) noexcept;

  mailbox<native> box_;
  const member<native> self_;
  frame_list frames_;
  cutoff cutoff_;
  answering answering_;
  recordings recordings_;
  seeking seeking_;
  std::uint32_t generation_ = 0;  // the generation of the task that runs
  const std::uint64_t floating_;  // how this thread computes, until a task says otherwise
  std::array<std::atomic<std::uint64_t>, counts> counted_{};
};

}  // namespace cleave::detail
