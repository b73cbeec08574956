// How many solutions were found.
#pragma once

#include <cstdint>

#include "board.hpp"

namespace apps::pentomino {

struct solutions {
  std::uint64_t all = 0;
  // The solutions, where those that are images of each other count once.
  std::uint64_t distinct = 0;

  solutions& operator+=(const solutions& b) {
    all += b.all;
    distinct += b.distinct;
    return *this;
  }
  friend solutions operator+(solutions a, const solutions& b) { return a += b; }
  friend bool operator==(const solutions&, const solutions&) = default;
};

// What a full board counts for.
inline solutions solved(const board& b) {
  if (b.z->restricted) return {static_cast<std::uint64_t>(b.z->images), 1};
  return {1, b.canonical()};
}

}  // namespace apps::pentomino
