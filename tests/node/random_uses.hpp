#pragma once

#include "core/requests.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cleave::tests {

/// Which data the subtasks of a random graph use.
struct random_uses {
  std::uint64_t seed = 0;
  static constexpr std::size_t data = 8;
  static constexpr int subtasks = 120;

  std::uint64_t draw(int i, std::uint64_t what) const {
    return random_at(seed * 100'000 + static_cast<std::uint64_t>(i) * 32 + what);
  }
  /// All data: first those that it reads, then those that it changes, then others.
  std::array<std::size_t, data> order(int i) const {
    std::array<std::size_t, data> all{};
    for (std::size_t k = 0; k < data; ++k) all[k] = k;
    for (std::size_t k = data; k > 1; --k) std::swap(all[k - 1], all[draw(i, k) % k]);
    return all;
  }
  std::size_t reads(int i) const { return draw(i, 16) % 4; }
  std::size_t changes(int i) const { return draw(i, 17) % 3; }
};

}  // namespace cleave::tests
