#pragma once

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace cleave::trace {

/// Work and span of a program that one worker runs, undivided. Its strands, what lies between where
/// a construct or a branch of one begins or ends, are timed. Times are in ticks; positions are on
/// the longest path from where the program began. The branches of a construct all begin where it
/// does. Times when the worker's thread was not on a CPU do not count.
class strand_clock {
public:
  strand_clock() noexcept;

  /// Begins the first strand of a task, on the worker's thread.
  void begin() noexcept;
  void resume() noexcept { since_ = detail::ticks(); }
  void pause() noexcept {
    const std::uint64_t passed = detail::ticks() - since_;
    std::uint64_t strand = passed - std::min(passed, own_);
    if (strand > suspicious_) strand -= std::min(strand, off_cpu());
    work_ += strand;
    position_ += strand;
  }

  // These are called while the clock is paused. `at` is where on the stack the construct is.

  void begin_construct(std::uintptr_t at) {
    drop_below(at);
    open_.push_back({at, position_, position_});
  }
  /// A branch of that construct ends, if one has begun, and the next one begins.
  void next_branch(std::uintptr_t at) {
    drop_below(at);
    if (open_.empty() || open_.back().at != at) return;
    open_.back().longest = std::max(open_.back().longest, position_);
    position_ = open_.back().begin;
  }
  void end_construct(std::uintptr_t at) {
    drop_below(at);
    if (open_.empty() || open_.back().at != at) return;
    position_ = std::max(position_, open_.back().longest);
    open_.pop_back();
  }
  void go_back(std::uint64_t position) noexcept { position_ = position; }
  /// A path is joined that ends at that position.
  void join(std::uint64_t position) noexcept { position_ = std::max(position_, position); }

  std::uint64_t work() const noexcept { return work_; }
  std::uint64_t position() const noexcept { return position_; }

private:
  struct construct {
    std::uintptr_t at;
    std::uint64_t begin;
    std::uint64_t longest;  // position where the longest of the branches so far ended
  };
  /// Constructs that an exception has left have not ended; but it waits for their other branches.
  void drop_below(std::uintptr_t at) {
    for (; !open_.empty() && open_.back().at < at; open_.pop_back())
      position_ = std::max(position_, open_.back().longest);
  }

  /// Ticks since the last call, or begin(), during which the thread was not on a CPU.
  std::uint64_t off_cpu() noexcept;

  std::uint64_t own_ = 0;         // what an empty strand takes
  std::uint64_t suspicious_ = 0;  // a strand so long may have been interrupted
  std::uint64_t seen_ticks_ = 0;  // ticks at the last call of off_cpu()
  std::uint64_t seen_cpu_ = 0;    // the thread's CPU time at that call
  std::chrono::steady_clock::time_point seen_time_;
  std::uint64_t since_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t work_ = 0;
  std::vector<construct> open_;
};

/// Pauses a strand clock, between two strands, while this object lives.
class between_strands {
public:
  explicit between_strands(strand_clock* c) noexcept : clock_(c) {
    if (clock_ != nullptr) clock_->pause();
  }
  ~between_strands() {
    if (clock_ != nullptr) clock_->resume();
  }
  between_strands(const between_strands&) = delete;
  between_strands& operator=(const between_strands&) = delete;

private:
  strand_clock* clock_;
};

}  // namespace cleave::trace
