#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <random>
#include <string>

namespace cleave::machine {

/// 64 bits that nobody can guess: of the system, not of a generator with a seed.
inline std::uint64_t random_bits() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

inline std::string in_hexadecimal(std::uint64_t n) {
  std::array<char, 16> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), n, 16).ptr};
}

}  // namespace cleave::machine
