#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace cleave::detail {

/// How far a node has come with a graph: of the subtasks that it makes it runs some, by any worker
/// and in another order.
///
/// Invariant: a mark is the number of subtasks made, and how many of them run here. It is passed
/// once as many have run, by one thread.
class progress {
public:
  // The owner of the graph.

  /// One more of those made runs here.
  void runs_here() noexcept { ++here_; }
  std::uint64_t marked() const noexcept { return marked_; }
  /// Sets a mark at `made` subtasks. Returns how many are done, if it is passed at once.
  std::optional<std::uint64_t> mark(std::uint64_t made) {
    marked_ = made;
    {
      const std::lock_guard lock(mutex_);
      marks_.emplace_back(here_, made);
      next_.store(marks_.front().first, std::memory_order_seq_cst);  // partner: ran()
    }
    return pass(done_.load(std::memory_order_seq_cst));
  }
  /// Nothing is left to run here.
  void all_ran() noexcept {
    done_.store(here_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    marks_.clear();
    next_.store(none, std::memory_order_relaxed);
  }

  // Any thread.

  /// A subtask has run here. Returns how many of those made are done, if that passes a mark.
  std::optional<std::uint64_t> ran() {
    return pass(done_.fetch_add(1, std::memory_order_seq_cst) + 1);  // partner: mark()
  }

private:
  static constexpr std::uint64_t none = (std::numeric_limits<std::uint64_t>::max)();

  /// Takes away the marks that are passed. seq_cst: if a mark is set while a subtask ends,
  /// one of the two finds the other.
  std::optional<std::uint64_t> pass(std::uint64_t done) {
    if (done < next_.load(std::memory_order_seq_cst)) return {};
    const std::lock_guard lock(mutex_);
    std::optional<std::uint64_t> passed;
    for (; !marks_.empty() && marks_.front().first <= done; marks_.pop_front())
      passed = marks_.front().second;
    next_.store(marks_.empty() ? none : marks_.front().first, std::memory_order_relaxed);
    return passed;
  }

  std::uint64_t here_ = 0, marked_ = 0;  // the owner's
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> next_{none};  // how many have run when the first mark is passed
  std::mutex mutex_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> marks_;  // with the mutex
};

}  // namespace cleave::detail
