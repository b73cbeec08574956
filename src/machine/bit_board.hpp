#pragma once

#include <atomic>
#include <cstdint>

namespace cleave::machine {

/// A bit for each worker, or rank, that any of them sets, clears and reads. All are one order
/// (seq_cst): of two that set a bit on one board and then look at another board, one sees the
/// other. Platform says what an atomic is, and how many bits there may be, so that the model
/// checker can stand in.
template <class Platform>
class bit_board {
public:
  static constexpr unsigned bits = 64;
  static constexpr unsigned capacity = Platform::most_workers;

  explicit bit_board(unsigned n) noexcept : size_(n), used_((n + bits - 1) / bits) {}

  unsigned size() const noexcept { return size_; }

  /// Returns whether none of the 64 around it was set.
  bool set(unsigned i) noexcept {
    const std::uint64_t one = std::uint64_t{1} << i % bits;
    return words_[i / bits].fetch_or(one, std::memory_order_seq_cst) == 0;
  }
  void clear(unsigned i) noexcept {
    words_[i / bits].fetch_and(~(std::uint64_t{1} << i % bits), std::memory_order_seq_cst);
  }
  bool any() const noexcept {
    for (unsigned i = 0; i < used_; ++i) {
      if (words_[i].load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }
  unsigned count() const noexcept {
    unsigned n = 0;
    for (unsigned i = 0; i < used_; ++i)
      n += static_cast<unsigned>(__builtin_popcountll(words_[i].load(std::memory_order_seq_cst)));
    return n;
  }
  /// Has the CPU fetch the first bits.
  void fetch() const noexcept { __builtin_prefetch(words_); }
  /// Calls f(i) for the set bits from `start` on, round about, until one returns true; returns
  /// whether one did.
  template <class F>
  bool visit(unsigned start, F f) const {
    for (unsigned k = 0; k <= used_; ++k) {
      const unsigned at = (start / bits + k) % used_;
      std::uint64_t w = words_[at].load(std::memory_order_seq_cst);
      const std::uint64_t below = (std::uint64_t{1} << start % bits) - 1;
      if (k == 0) w &= ~below;
      if (k == used_) w &= below;
      for (; w != 0; w &= w - 1) {
        if (f(at * bits + static_cast<unsigned>(__builtin_ctzll(w)))) return true;
      }
    }
    return false;
  }

private:
  unsigned size_;
  unsigned used_;
  typename Platform::template atomic<std::uint64_t> words_[(capacity + bits - 1) / bits]{};
};

}  // namespace cleave::machine
