#pragma once

#include <cstddef>
#include <cstdint>

namespace cleave::detail {

/// Learns from timed constructs how deep on the stack (bytes below the root's) what remains is too
/// short to be worth dividing: all that was seen deeper than depth() lately took less than a few
/// microseconds. Where long and short ones are found at the same depths, as in random trees, next
/// to nothing is beyond. The shallowest of all never is.
///
/// A wrong guess loses nothing but the chance to divide what is under way. One that is not deep
/// enough shows in two ways, and all is learnt anew: undivided constructs take long, or a piece
/// does that was given from beyond the cutoff.
class cutoff_learner {
public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// How many divisible constructs to leave out between two that are timed. Irregular, because
  /// programs are regular.
  std::uint32_t until_next(std::uint64_t now) const noexcept {
    const auto chance = static_cast<std::uint32_t>(now >> 3);
    return !learnt() ? 2 + (chance & 3) : 16 + (chance & 31);
  }
  static bool is_long(std::uint64_t ticks) noexcept;

  bool learnt() const noexcept { return depth_ != none; }
  /// What is deeper than this runs undivided.
  std::size_t depth() const noexcept { return depth_; }

  /// A construct at this depth ran from `begin` to `end` (ticks), and its thread was not preempted
  /// meanwhile; `undivided`: it entered no divisible one.
  void add(std::size_t depth, std::uint64_t begin, std::uint64_t end, bool undivided) noexcept;
  /// A piece of this depth was given, and took so long.
  void add_piece(std::size_t depth, std::uint64_t ticks) noexcept;

private:
  std::size_t depth_ = none;
  std::size_t deepest_ = 0;        // the deepest in this window that took long
  std::size_t below_ = 0;          // the deepest of all in this window
  std::size_t previous_ = 0;       // deepest_ of the window before
  std::size_t shallowest_ = none;  // the shallowest of all in this window
  unsigned wrong_ = 0;             // undivided ones in this window that took far too long
  unsigned seen_ = 0;              // constructs in this window
  std::uint64_t until_ = 0;        // ticks when the window may end; 0: the next construct begins it
};

}  // namespace cleave::detail
