#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

/// What a pool does under CLEAVE_CHECK, where its only worker divides its own work.
namespace cleave::detail {

struct check_plan {
  std::uint64_t divisions = 0;  // how many are made at most; 0: one at every poll
  std::uint32_t seed = 0;       // what chooses the polls, where they are not all
  /// How often the progress is printed; 0: never.
  std::chrono::seconds told_every{0};
};

/// The polls at which work is divided. How many polls a program will make is not known, so a gap
/// between two divisions is in proportion to the polls seen: a short run and a long one both get
/// divisions all the way. The first gaps are not the shortest possible: a branch and bound that is
/// divided at once has found no bound yet. The worker alone calls the functions that change it.
class checked_polls {
public:
  checked_polls(std::uint64_t divisions, std::uint32_t seed) noexcept;

  /// Counts a poll. Returns whether to divide at it.
  bool is_due() noexcept {
    const std::uint64_t n = seen() + 1;
    seen_.store(n, std::memory_order_relaxed);  // one writer
    return n >= next_;
  }
  /// A division was made. Until it was, each poll is due: there may have been nothing to divide.
  void divided() noexcept;
  /// Which of the frames to divide, as a share of all that there are, 0 being the outermost: that
  /// one, as thieves would, or any other.
  double place() noexcept;

  std::uint64_t seen() const noexcept { return seen_.load(std::memory_order_relaxed); }
  std::uint64_t divisions() const noexcept { return divisions_.load(std::memory_order_relaxed); }
  std::uint64_t most() const noexcept { return most_; }
  std::uint32_t seed() const noexcept { return seed_; }

private:
  void choose_next() noexcept;
  double random() noexcept;  // from 0 to 1

  const std::uint64_t most_;  // 0: at every poll
  const std::uint32_t seed_;
  std::uint64_t random_;
  std::uint64_t next_ = 0;  // the number of the poll to divide at
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint64_t> divisions_{0};
};

/// The checked runs of one pool.
class checks {
public:
  explicit checks(const check_plan& p) noexcept
      : polls(p.divisions, p.seed), every_(p.told_every) {}
  ~checks();
  checks(const checks&) = delete;
  checks& operator=(const checks&) = delete;

  /// The worker begins a run. Returns whether that is a divided one.
  bool begin() noexcept;
  void end() noexcept { phase_.store(nothing, std::memory_order_relaxed); }

  checked_polls polls;
  std::atomic<unsigned> pauses{0};  // how many undivided runs are under way

private:
  enum phase : unsigned { nothing, divided, undivided };
  void announce() const noexcept;
  void tell_progress() noexcept;
  void tell(const char* of_what) const noexcept;

  const std::chrono::seconds every_;
  std::optional<std::chrono::steady_clock::time_point> began_;  // empty before the first run
  std::atomic<phase> phase_{nothing};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;  // guarded by the mutex
  std::thread teller_;
};

}  // namespace cleave::detail
