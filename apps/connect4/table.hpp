// What is known of positions that were met before.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace apps::connect4 {

// A table of transpositions that all threads read and write without a lock. An entry is one atomic
// word, with the whole key in it: nobody ever sees half an entry, or that of another position.
class transposition_table {
public:
  enum class bound : std::uint8_t { none = 0, lower = 1, upper = 2, exact = 3 };
  struct entry {
    bound what;
    int score;
  };

  // `mib` is its size; 0 makes a table that remembers nothing.
  explicit transposition_table(int mib)
      : words_(static_cast<std::size_t>(mib) * (std::size_t{1} << 20) / sizeof(std::uint64_t)) {}

  bool empty() const { return words_.empty(); }

  // Called only if the table is not empty.
  entry find(std::uint64_t key) const {
    const std::uint64_t word = words_[place(key)].load(std::memory_order_relaxed);
    if (word >> 8 != key) return {bound::none, 0};
    return {static_cast<bound>(word >> 6 & 3), static_cast<int>(word & 63) - zero};
  }

  // Replaces whatever is in that place. `score` is from -zero to zero - 1.
  void store(std::uint64_t key, bound what, int score) {
    words_[place(key)].store(
        key << 8 | static_cast<std::uint64_t>(what) << 6 | static_cast<std::uint64_t>(score + zero),
        std::memory_order_relaxed);
  }

private:
  static constexpr int zero = 32;

  std::size_t place(std::uint64_t key) const {
    const std::uint64_t hash = key * 0x9e3779b97f4a7c15;
    return (hash >> 32) * words_.size() >> 32;
  }

  std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace apps::connect4
