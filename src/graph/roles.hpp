#pragma once

#include <cleave/detail/graph/graph.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace cleave::detail {

/// The subtasks of a graph that use the same data in the same way: one in each step.
struct role {
  // Only the owner of the graph touches these after `roles` has given the role its number.

  std::uint64_t signature = 0;
  std::uint64_t step = 0;       // the last step that has a subtask of this role
  std::uint32_t next = 0;       // the role of the subtask that was made after the last one of this
  bool stays = false;           // on() says where the subtasks run, or they decide nothing
  std::vector<datum_use> uses;  // never changes
  bool has_new_data = false;    // never changes; each subtask of the role then has data of its own

  // Any thread touches these. Times are in microseconds.

  std::atomic<float> time{0};      // how long the last subtasks took
  std::atomic<float> interval{0};  // from the end of one to that of the next
  std::atomic<double> ended{0};    // when the last one ended that was measured
  std::atomic<std::uint32_t> runs{0}, measured_runs{0};

  /// Counts a subtask that begins. Returns whether it is to be measured: of short ones every eighth
  /// is, as a measurement takes some 50 ns.
  bool begins() noexcept;
  /// Notes how long a subtask took. What took long for a reason of its own counts as four times the
  /// usual at most.
  void ran(double from, double to) noexcept;
};

/// Gives subtasks their roles, and finds steps: a step is the longest run of subtasks of which no
/// two have one role. So a repeated step is found wherever it begins, and whatever comes between
/// two steps. All nodes make the same graph, and so come to the same numbers.
///
/// Invariant: a role never changes its number or its place in memory, and whoever has read count()
/// may read all of its first roles.
class roles {
public:
  /// No role: there are too many.
  static constexpr std::uint32_t none = 0;

  /// Returns the role of the next subtask. Owner only. Throws std::bad_alloc.
  std::uint32_t next(std::span<const datum_use> uses, std::optional<unsigned> asked);
  /// Whether the last subtask was the first of a step. Owner only.
  bool began_step() const noexcept { return began_step_; }
  std::uint64_t step() const noexcept { return step_; }

  /// Roles have the numbers from 1 to count(). Any thread.
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  role& at(std::uint32_t number) noexcept {
    return (*chunks_[number / of_chunk])[number % of_chunk];
  }

private:
  static constexpr std::size_t of_chunk = 256, most_chunks = 1024;
  using chunk = std::array<role, of_chunk>;

  std::uint64_t signature_of(std::span<const datum_use> uses, std::optional<unsigned> asked);
  std::uint32_t add(std::uint64_t signature, std::span<const datum_use> uses, bool asked);

  std::array<std::unique_ptr<chunk>, most_chunks> chunks_;
  std::atomic<std::uint32_t> count_{0};  // release: the roles. Partner: count()
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by signature
  std::vector<bool> used_;                                    // data that a subtask has used
  std::uint32_t last_ = none;
  std::uint64_t step_ = 1;
  bool began_step_ = false;
  bool new_data_ = false, new_decides_ = false;  // of the last signature
};

}  // namespace cleave::detail
