#pragma once

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

/// How long a loop runs without a look at the clock, or at the word that others ring.
namespace cleave::detail {

/// How many microseconds a block of iterations takes, or one iteration: a loop that could be
/// divided looks at the clock between two blocks.
inline constexpr unsigned block_microseconds = 4;

/// The time of so many iterations, the first ones, is taken together.
inline constexpr unsigned sampled = 8;

/// Iterations that run without a look at the word that others ring. A constant, for which GCC needs
/// no remainder and vectorises at -O2 too; 16 it would unroll, without vectors.
///
/// Nobody can interrupt a body, so a loop looks after each iteration: whatever earlier ones took,
/// the next may take an hour. A look costs 0.3 to 0.5 ns and rules out vectors: 3 to 10 times what
/// the smallest bodies take. Those run in strips: bodies that do nothing which the compiler does
/// not see (may_take_long), while an iteration takes a few nanoseconds. If arithmetic alone makes
/// the next ones long, the strip is finished first.
inline constexpr int strip = 64;

/// Whether so many iterations took a few nanoseconds each.
inline bool is_cheap(std::uint64_t iterations, std::uint64_t elapsed) noexcept {
  constexpr unsigned most = 250;  // iterations in a microsecond
  return elapsed * most < iterations * ticks_per_microsecond();
}

/// Microseconds: what takes less than this on one worker is not worth dividing.
inline constexpr unsigned least_microseconds = 2;

/// Ticks: a loop that had nothing to give does not look for anything again before these.
inline std::uint64_t least_look() noexcept { return ticks_per_microsecond(); }

/// Of the loops that are not worth dividing one in so many looks at the clock, to see whether that
/// is still so: a look takes as long as tens of short iterations.
inline constexpr unsigned short_loops_a_look = 4;

/// How many iterations of a loop are not worth dividing. A loop learns it while it runs, and begins
/// with what the loops of its kind have told: a loop of few microseconds has no time to learn.
class least_share {
public:
  using store = std::atomic<std::uint64_t>;

  explicit least_share(std::uint64_t usual) noexcept : iterations_(usual) {}

  bool is_less_than(std::uint64_t iterations) const noexcept { return iterations_ < iterations; }
  /// How many iterations to begin with, and whether they seem to be cheap.
  std::uint64_t first_run() const noexcept {
    return std::max<std::uint64_t>(iterations_ / 4, sampled);
  }
  bool seems_cheap() const noexcept { return is_cheap(iterations_, least_ticks()); }

  /// About how many iterations run from when a part of the loop is made until another worker has
  /// begun with it.
  std::uint64_t while_handed() const noexcept { return iterations_ / 8; }

  bool has_begun() const noexcept { return began_ != 0; }
  /// A block of iterations begins at this tick. Returns how many ticks ago the last one began.
  std::uint64_t begin(std::uint64_t now) noexcept { return now - std::exchange(began_, now); }
  /// Whether it takes longer than a block should.
  bool is_late() const noexcept { return has_begun() && ticks() - began_ > 4 * least_ticks(); }
  /// So many iterations took so many ticks. Returns whether that tells something: too few do not.
  bool learn(std::uint64_t done, std::uint64_t took) noexcept {
    if (took <= least_ticks() / 32) return false;
    iterations_ = done * least_ticks() / took;
    return true;
  }
  /// Tells the next loops. That is rare, as others read it.
  void tell(store& usual) const noexcept {
    const std::uint64_t known = usual.load(std::memory_order_relaxed);
    if (iterations_ > 2 * known || 2 * iterations_ < known)
      usual.store(iterations_, std::memory_order_relaxed);
  }

private:
  static std::uint64_t least_ticks() noexcept {
    return least_microseconds * ticks_per_microsecond();
  }

  std::uint64_t iterations_;
  std::uint64_t began_ = 0;  // 0: none has begun
};

/// How many iterations to run until the next look, if the last `run` took `elapsed` ticks.
[[gnu::noinline]] std::uint64_t next_run(std::uint64_t run, std::uint64_t elapsed) noexcept;

}  // namespace cleave::detail
