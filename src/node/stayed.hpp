#pragma once

#include <cleave/detail/travel/staying.hpp>
#include <cleave/statistics.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cleave::net {

/// Which types of tasks other nodes would have been given, if they could travel.
///
/// Invariant: a type is noted whenever a request of another node found nothing on a worker's stack
/// but what stays, at most once in 20 ms. The user is told of it on standard error, once, only
/// after ten notes over at least 200 ms in which nothing left the process: a program whose tasks
/// travel and whose leaves are closures has such moments, and they end with the next task that
/// leaves. Time alone is no measure, as on a busy machine a moment takes long.
class stayed_types {
public:
  /// Notes that this type is what a worker could have given, at that tick. Any thread. Blocks for
  /// no longer than it takes to print a line.
  void note(const detail::staying_type& type, std::uint64_t tick) noexcept;
  /// A task leaves: from now on time counts anew. Any thread.
  void something_leaves() noexcept { left_.store(true, std::memory_order_relaxed); }
  /// From now on nothing is noted: all nodes run tasks of their own (runtime::run_on_all), and what
  /// they do not share by a graph is to stay. Any thread.
  void end() noexcept { next_.store(~std::uint64_t{0}, std::memory_order_relaxed); }
  /// Any thread.
  std::vector<stayed_task> all() const;

private:
  struct entry {
    const detail::staying_type* type;
    std::uint64_t times;
    bool told;
  };
  /// Notes that nothing has ended.
  struct streak {
    std::uint64_t since = 0;  // the tick of the first
    std::uint64_t last = 0;   // the tick of the newest
    unsigned notes = 0;
  };
  bool is_due(std::uint64_t tick) noexcept;
  bool lasts(std::uint64_t tick) noexcept;

  std::atomic<std::uint64_t> next_{0};  // the tick before which nothing is noted
  std::atomic<bool> left_{false};       // something has left since the last note
  mutable std::mutex mutex_;
  std::vector<entry> noted_;  // with the mutex
  streak lasting_;            // with the mutex
};

}  // namespace cleave::net
