#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sim {

using nanoseconds = std::int64_t;
inline constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();

/// When each worker acts next; the earliest is at hand (a tree of winners).
class agenda {
public:
  explicit agenda(std::size_t n) : at_(n, 0) {
    while (leaves_ < n) leaves_ *= 2;
    winners_.assign(2 * leaves_, nobody);
    for (std::uint32_t i = 0; i < n; ++i) winners_[leaves_ + i] = i;
    for (std::size_t k = leaves_; k-- > 1;) play(k);
  }
  nanoseconds at(std::uint32_t i) const { return at_[i]; }
  void set(std::uint32_t i, nanoseconds t) {
    at_[i] = t;
    for (std::size_t k = (leaves_ + i) / 2; k > 0; k /= 2) play(k);
  }
  void advance(std::uint32_t i, nanoseconds t) {
    if (t < at_[i]) set(i, t);
  }
  std::uint32_t first() const { return winners_[1]; }

private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  void play(std::size_t k) {
    const std::uint32_t a = winners_[2 * k], b = winners_[2 * k + 1];
    winners_[k] = b == nobody || (a != nobody && at_[a] <= at_[b]) ? a : b;
  }
  std::vector<nanoseconds> at_;
  std::size_t leaves_ = 2;
  std::vector<std::uint32_t> winners_;
};

}  // namespace sim
