// What the programs here that change a variable on one node, and look when others have it, share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace bench::net {

// Of the clock that all processes of a machine share.
inline std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Updates of gathered variables.
struct keep_greatest {
  static constexpr bool commutative = true;
  void operator()(std::int64_t& value, const std::int64_t& x) const { value = std::max(value, x); }
};
struct add_up {
  static constexpr bool commutative = true;
  void operator()(std::int64_t& value, const std::int64_t& x) const { value += x; }
};

}  // namespace bench::net
