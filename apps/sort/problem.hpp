// What is sorted, and the check of what comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/random.hpp"

namespace apps::sort {

// Numbers `first` to `last` - 1 of n values, which are the same in every run.
inline std::vector<std::uint32_t> random_values(std::size_t n, std::size_t first,
                                                std::size_t last) {
  std::vector<std::uint32_t> values(last - first);
  random_numbers next(n);
  next.skip(first);
  for (auto& v : values) v = static_cast<std::uint32_t>(next() >> 32);
  return values;
}
inline std::vector<std::uint32_t> random_values(std::size_t n) { return random_values(n, 0, n); }

// Equal, except by rare chance, only for arrays that hold the same values in any order.
inline std::uint64_t checksum(const std::vector<std::uint32_t>& values) {
  std::uint64_t sum = 0;
  for (std::uint64_t v : values) {
    std::uint64_t z = (v + 1) * 0x9e3779b97f4a7c15;
    sum += (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9;
  }
  return sum;
}

}  // namespace apps::sort
