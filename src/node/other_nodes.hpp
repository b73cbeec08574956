#pragma once

#include "core/pool.hpp"
#include "node/stayed.hpp"
#include "requests/other_nodes.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cleave::net {

/// A participant without a stack: in a pool it stands for the other nodes. One thread, the
/// driver's, calls everything but what detail::other_nodes declares; no call blocks.
///
/// Invariant: a task that a worker gave to a slot is from next_given() to complete() in the hands
/// of the driver, which also may have it run here (feed). One that came from another node is the
/// pool's from feed() to next_finished(), and the driver's before and after.
class other_nodes final : public detail::other_nodes {
public:
  /// `ring`, called by any thread, ends the driver's wait. Made before the pool's threads.
  other_nodes(detail::pool& p, detail::native::bell ring);
  /// The pool's threads have ended.
  ~other_nodes() override;
  other_nodes(const other_nodes&) = delete;
  other_nodes& operator=(const other_nodes&) = delete;

  /// Makes one, for the settings of a pool that is to have it.
  static decltype(detail::pool::settings::others) maker(detail::native::bell ring);
  /// The one of a pool that was made so.
  static other_nodes& of(const detail::pool& p) noexcept {
    return static_cast<other_nodes&>(*p.others());
  }

  // ---- asking workers in the name of others

  /// Asks for a part of `within`, which came from another node and runs here (null: of anything).
  void ask(unsigned k, const detail::task* within) noexcept;
  /// Asks once more, and now also workers in what they would run undivided. Where no request is
  /// unanswered it leaves them alone.
  void insist() noexcept;
  bool is_asking(unsigned k) const noexcept { return boxes_[k]->open; }
  bool asks_for_part_of(unsigned k, const detail::task& t) const noexcept {
    return boxes_[k]->open && boxes_[k]->within == &t;
  }
  /// Takes the request back; false if a worker has taken it on: then next_given() tells.
  bool withdraw(unsigned k) noexcept;
  struct gift {
    unsigned slot;
    detail::task* given;  // null: its owner has taken it back, or could not split
  };
  /// The next request that was answered.
  bool next_given(gift& g) noexcept;

  // ---- feeding workers

  struct starving {
    unsigned worker;
    detail::request seen;
    const detail::scope* wanted;  // null: anything
  };
  /// The workers that found nothing here, now.
  const std::vector<starving>& look_for_starving();
  /// Has that worker run a task: one from another node, or one that it has given away. False if it
  /// does not starve any more; then the task is still the caller's.
  bool feed(const starving& who, detail::task& t) noexcept;
  /// Has any worker run a task that all nodes run; then the task is the pool's, as one that feed()
  /// took.
  void begin(detail::task& t, detail::team_node* team) noexcept;
  /// Sets the team of a root task that this process runs.
  void set_team(detail::team_node* team) noexcept;
  /// A task from another node that has ended here, or null. It is the caller's then.
  std::unique_ptr<detail::task> next_finished() noexcept;
  /// Makes a task from another node unwind at its next poll.
  void cancel(detail::task& t) noexcept { stop(t); }

  // ---- tasks that are out

  /// Tells the owner of a task that its result or error is in it. Then the task may be gone.
  void complete(detail::task& t) noexcept;
  /// Whether somebody has cancelled the task.
  static bool is_cancelled(const detail::task& t) noexcept { return stopped(&t); }

  // ---- the driver's sleep

  /// False if there is something to see; else whoever has something for the driver rings the bell.
  bool fall_asleep() noexcept { return slots_.fall_asleep(); }
  /// Returns the signals that came, and takes them.
  std::uint32_t wake_up() noexcept { return slots_.wake_up(); }

  // ---- workers that wait for data

  /// Has the calling worker wait until `holds` returns true, and serve requests meanwhile; it looks
  /// for messages first. False, at once, if the caller is none of this pool's workers, or cannot
  /// serve any now. Any thread.
  bool await(const std::function<bool()>& holds, detail::message_watch& messages) noexcept;
  /// Has the workers in await() look again. Any thread may call it.
  void tell() noexcept;

  unsigned workers() const noexcept;
  unsigned computing() const noexcept;

  void finished_here(detail::task& t) noexcept override;
  void begun() noexcept override { own_.ring(detail::news); }
  void interrupt() noexcept override { own_.ring(detail::attention); }
  void stayed(const detail::staying_type& type, std::uint64_t tick) noexcept override {
    stayed_.note(type, tick);
  }
  /// What could not leave, although other nodes asked for it. Any thread.
  std::vector<stayed_task> stayed() const { return stayed_.all(); }

private:
  using native = detail::native;
  using mailbox = detail::mailbox<native>;

  struct slot {
    explicit slot(native::atomic<std::uint32_t>& word, native::cutoff& cutoff, native::bell bell)
        : box(word, cutoff, bell) {}
    mailbox box;
    const detail::scope* within = nullptr;
    bool open = false;
  };

  detail::pool& of_;
  native::atomic<std::uint32_t> word_{0};
  native::cutoff cutoff_{0};
  mailbox own_;
  std::vector<std::unique_ptr<slot>> boxes_;
  detail::slots_of_other_nodes<native> slots_;
  std::vector<starving> starving_;
  stayed_types stayed_;
  std::mutex finished_mutex_;
  std::vector<detail::task*> finished_;
};

}  // namespace cleave::net
