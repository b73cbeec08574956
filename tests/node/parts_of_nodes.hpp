#pragma once

#include "core/requests.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave::tests {

using value = std::uint64_t;

/// Parts of a graph that read up to three data and change or add to one, at its home. With every
/// third seed they read only data beside it, so that no node knows all others.
struct parts_of_nodes {
  std::uint64_t seed = 0;
  static constexpr std::size_t data = 12;
  static constexpr int parts = 200;

  std::uint64_t draw(int i, std::uint64_t what) const {
    return random_at(seed * 1'000'000 + static_cast<std::uint64_t>(i) * 32 + what);
  }
  std::size_t written(int i) const { return draw(i, 0) % data; }
  std::vector<std::size_t> read(int i) const {
    std::vector<std::size_t> all;
    for (std::uint64_t k = 0; k < draw(i, 1) % 4; ++k) {
      const std::size_t any = draw(i, 2 + k) % data;
      const std::size_t d =
          seed % 3 == 0 ? (written(i) + (any % 2 == 0 ? 1 : data - 1)) % data : any;
      if (d != written(i) && std::ranges::count(all, d) == 0) all.push_back(d);
    }
    return all;
  }
  bool adds(int i) const { return draw(i, 8) % 3 == 0; }
  static value changed(int i, value is, const std::vector<value>& read) {
    for (const value v : read) is += mix(v);
    return is + static_cast<value>(i);
  }
  /// Those that run on a node, write what those read, or read what those write.
  std::vector<int> of(unsigned rank, unsigned size) const {
    const auto runs_here = [&](int i) { return written(i) % size == rank; };
    std::array<bool, data> is_read{};
    for (int i = 0; i < parts; ++i)
      if (runs_here(i))
        for (const std::size_t d : read(i)) is_read[d] = true;
    std::vector<int> mine;
    for (int i = 0; i < parts; ++i) {
      const auto reads = read(i);
      if (runs_here(i) || is_read[written(i)] ||
          std::ranges::any_of(reads, [&](std::size_t d) { return d % size == rank; }))
        mine.push_back(i);
    }
    return mine;
  }
};

}  // namespace cleave::tests
