// Random numbers that are the same in every run and with every standard library.
#pragma once

#include <cstdint>

namespace apps {

// splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    std::uint64_t z = state_ += increment;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // As if it had been called so often.
  void skip(std::uint64_t calls) { state_ += calls * increment; }

  // Uniform in [0, 1).
  double fraction() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

private:
  static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15;
  std::uint64_t state_;
};

}  // namespace apps
