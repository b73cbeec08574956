#pragma once

#include "core/checks.hpp"
#include "core/guest.hpp"
#include "core/task_queue.hpp"
#include "core/worker.hpp"
#include "machine/thread.hpp"
#include "trace/session.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cleave::detail {

class team_node;

/// What stands for the other nodes in a pool: node/other_nodes.hpp. Any worker calls it.
class other_nodes {
public:
  virtual ~other_nodes() = default;
  /// A worker computes from now on, and nobody did. Other nodes are to know it soon.
  virtual void begun() noexcept = 0;
  /// A task from there has ended here.
  virtual void finished_here(task& t) noexcept = 0;
  /// Some scope was cancelled.
  virtual void interrupt() noexcept = 0;
  /// At that tick a worker could have given a task of this type, and had none for another node.
  virtual void stayed(const staying_type& type, std::uint64_t tick) noexcept = 0;
};

/// The workers of one runtime and what they share.
class pool {
public:
  struct settings {
    unsigned workers = 1;
    std::size_t stack_bytes = 0;
    std::optional<check_plan> check;  // CLEAVE_CHECK; then there is one worker
    bool cutoff = true;               // CLEAVE_CUTOFF
    unsigned cpus = 1;                // the CPUs that this process may use
    bool guests = true;               // threads may call run(); not in a process that serves others
    /// Makes what stands for other nodes, before the threads begin. It is empty if this process is
    /// alone.
    std::function<std::unique_ptr<other_nodes>(pool&)> others;
  };
  /// How many workers there are for the CPUs.
  struct sharing {
    bool oversubscribed;                // there are more workers than CPUs
    std::chrono::milliseconds off_cpu;  // how long workers that share CPUs may be off them
    unsigned most_askers;               // workers that may ask at once
  };
  /// `recording` may be null. Throws std::system_error.
  pool(const settings& s, std::unique_ptr<trace::session> recording);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Runs a root task on the calling thread; if that is a worker, or cannot be the guest, hands it
  /// to a worker and blocks until it is done. The task computes in the calling thread's
  /// floating-point environment.
  void run(task& root);
  /// Whether a run() has not returned, or the caller is a worker of this pool: then it cannot end.
  bool in_use() const noexcept;
  /// Hands a root task to a worker. Does not block.
  void begin_root(task& root) noexcept;
  /// Has a worker run a ready task of a group. Any thread may call it.
  void make_ready(task& t) noexcept;
  /// Tells every worker of every pool that some scope was stopped.
  static void interrupt_all() noexcept;

  /// Null if this process is alone.
  other_nodes* others() const noexcept { return others_.get(); }

  /// The workers: those that are the pool's own threads, and after them the guest's.
  worker& at(unsigned i) noexcept { return *workers[i]; }
  /// How many compute at once.
  unsigned size() const noexcept { return size_; }
  unsigned places() const noexcept { return static_cast<unsigned>(workers.size()); }

  /// Whether there are tasks that any worker may run.
  bool has_work_for_any() const noexcept;
  /// Whether the reserve may be needed: there is a root task that no guest runs, or a task that has
  /// been left to any worker or to the reserve. seq_cst: see seat.
  bool has_work() const noexcept {
    return runs.load(std::memory_order_seq_cst) != 0 || !roots.empty() || !ready_for_any.empty() ||
           !workers[size_ - 1]->ready.empty();
  }
  /// Whether the worker is the one in whose place guests compute.
  bool is_reserve(const worker& w) const noexcept { return w.id + 1 == size_ && guests; }
  /// Whether the worker of this number is the guest.
  bool is_guest(unsigned id) const noexcept { return id >= size_; }
  /// Whether it is, and its runs are short.
  bool is_brief_guest(unsigned id) const noexcept {
    return is_guest(id) && guests->runs_are_short();
  }
  bool expects_guest() const noexcept {
    return guests && !cpus.oversubscribed && guests->is_expected();
  }

  const std::unique_ptr<trace::session> recording;
  exchange<native> meeting;
  task_queue roots;          // root tasks that no worker has begun
  task_queue ready_for_any;  // what became ready, but not by a worker; or what one leaves to any
  std::atomic<bool> stopping{false};
  const std::unique_ptr<checks> check;  // null without CLEAVE_CHECK
  const bool cutoff;                    // CLEAVE_CUTOFF
  team_node* team = nullptr;            // the team of the last root task that all nodes run
  const sharing cpus;
  std::unique_ptr<guest> guests;  // null: run() always hands its task over

private:
  static constexpr unsigned failed = ~0u;  // `started` of a pool whose threads could not be had
  struct own_threads {
    std::atomic<unsigned> started{0};
    std::atomic<unsigned> leaving{0};
    std::vector<std::unique_ptr<machine::thread>> all;
  };
  static void begin(void* self);

  const unsigned size_;
  std::vector<std::unique_ptr<worker>> workers;
  std::unique_ptr<other_nodes> others_;  // before the threads begin: they read it
  std::atomic<unsigned> runs{0};         // calls of run() under way, but for the guest's
  own_threads threads_;                  // they end before what they use
};

}  // namespace cleave::detail
