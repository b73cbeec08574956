#pragma once

#include "core/outside.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cleave::detail {

/// A participant without a stack: in a pool it stands for the other nodes. One thread, the
/// driver's, calls everything but finished_here(); no call blocks.
///
/// Invariant: a task that a worker gave to a slot is from next_given() to complete() in the hands
/// of the driver, which also may have it run here (feed). One that came from outside is the pool's
/// from feed() to next_finished(), and the driver's before and after.
class proxy {
public:
  /// `ring`, called by any thread, ends the driver's wait. Made before the pool's threads.
  proxy(pool& p, native::bell ring);
  /// The pool's threads have ended.
  ~proxy();
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;

  // ---- asking workers in the name of others

  /// Asks for a part of `within`, which came from outside and runs here (null: of anything).
  void ask(unsigned k, const task* within) noexcept;
  /// Asks once more, and now also workers in what they would run undivided. Where no request is
  /// unanswered it leaves them alone.
  void insist() noexcept;
  bool is_asking(unsigned k) const noexcept { return boxes_[k]->open; }
  bool asks_for_part_of(unsigned k, const task& t) const noexcept {
    return boxes_[k]->open && boxes_[k]->within == &t;
  }
  /// Takes the request back; false if a worker has taken it on: then next_given() tells.
  bool withdraw(unsigned k) noexcept;
  struct gift {
    unsigned slot;
    task* given;  // null: its owner has taken it back, or could not split
  };
  /// The next request that was answered.
  bool next_given(gift& g) noexcept;

  // ---- feeding workers

  struct starving {
    unsigned worker;
    request seen;
    const scope* wanted;  // null: anything
  };
  /// The workers that found nothing here, now.
  const std::vector<starving>& look_for_starving();
  /// Has that worker run a task: one from outside, or one that it has given away. False if it does
  /// not starve any more; then the task is still the caller's.
  bool feed(const starving& who, task& t) noexcept;
  /// A task from outside that has ended here, or null. Then the caller's.
  std::unique_ptr<task> next_finished() noexcept;
  /// Makes a task from outside unwind at its next poll.
  void cancel(task& t) noexcept { stop(t); }

  // ---- tasks that are out

  /// Its result or error is in it: tells its owner. Then it may be gone.
  void complete(task& t) noexcept;
  /// Whether somebody has cancelled it.
  static bool is_cancelled(const task& t) noexcept { return stopped(&t); }

  // ---- the driver's sleep

  /// False if there is something to see; else whoever has something for the driver rings the bell.
  bool fall_asleep() noexcept { return slots_.fall_asleep(); }
  /// Returns the signals that came, and takes them.
  std::uint32_t wake_up() noexcept { return slots_.wake_up(); }

  // ---- workers that wait for data

  /// Has the calling worker wait until that holds, and serve requests meanwhile. False, at once, if
  /// the caller is none of this pool's workers, or cannot serve any now. Any thread.
  bool await(const std::function<bool()>& holds) noexcept;
  /// Has them look again. Any thread.
  void tell() noexcept;

  unsigned workers() const noexcept;
  unsigned computing() const noexcept;

  /// Any worker: a task from outside has ended.
  void finished_here(task& t) noexcept;
  /// Any worker: it computes from now on, and nobody did. Other nodes are to know it soon.
  void begun() noexcept { own_.ring(news); }
  /// Any thread: some scope was cancelled.
  void interrupt() noexcept { own_.ring(attention); }

private:
  struct slot {
    explicit slot(native::atomic<std::uint32_t>& word, native::cutoff& cutoff, native::bell bell)
        : box(word, cutoff, bell) {}
    mailbox<native> box;
    const scope* within = nullptr;
    bool open = false;
  };

  pool& of_;
  native::atomic<std::uint32_t> word_{0};
  native::cutoff cutoff_{0};
  mailbox<native> own_;
  std::vector<std::unique_ptr<slot>> boxes_;
  outside_slots<native> slots_;
  std::vector<starving> starving_;
  std::mutex finished_mutex_;
  std::vector<task*> finished_;
};

}  // namespace cleave::detail
