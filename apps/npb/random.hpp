// The pseudorandom numbers of the NAS Parallel Benchmarks: x' = 5^13 x mod 2^46, and x / 2^46 is a
// number between 0 and 1 (Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 2.3).
#pragma once

#include <cstdint>

namespace apps::npb {

class random {
public:
  static constexpr std::uint64_t multiplier = 1220703125, first_seed = 314159265;

  // The generator as it is after `skipped` numbers were drawn.
  explicit random(std::uint64_t skipped = 0) : x_(first_seed) {
    std::uint64_t power = multiplier;
    for (; skipped != 0; skipped >>= 1, power = times(power, power))
      if ((skipped & 1) != 0) x_ = times(x_, power);
  }
  double next() {
    x_ = times(x_, multiplier);
    return static_cast<double>(x_) * 0x1p-46;
  }

private:
  // Exact: 2^46 divides 2^64, by which unsigned products are reduced.
  static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    return a * b & ((std::uint64_t{1} << 46) - 1);
  }
  std::uint64_t x_;
};

}  // namespace apps::npb
