// The box is cut into blocks. Each has the 26 around it as neighbours: one of them several times,
// or itself, where the box is cut into few.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "../common/vec3.hpp"

namespace apps::md {

// Neighbours have numbers from 0 to 26: 13 is the block itself, and `opposite(side)` is where this
// one lies, seen from there. Those from 14 on are ahead, the others behind.
inline constexpr int sides = 27, itself = 13, first_ahead = 14, half = 13;
constexpr int opposite(int side) { return sides - 1 - side; }
constexpr std::array<int, 3> offset(int side) {
  return {side / 9 - 1, side / 3 % 3 - 1, side % 3 - 1};
}

struct grid {
  vec3 low, size;  // the box
  double reach;    // how far away listed pairs are
  std::array<int, 3> count;

  // A grid of at most so many blocks in the directions x, y and z. Each is longer than the
  // potential reaches.
  template <class System>
  grid(const System& s, const std::array<int, 3>& wanted)
      : low(s.low),
        size(s.size),
        reach(s.reach()),
        count{at_most(size.x, wanted[0]), at_most(size.y, wanted[1]), at_most(size.z, wanted[2])} {}
  template <class System>
  grid(const System& s, int in_each) : grid(s, std::array{in_each, in_each, in_each}) {}

  int blocks() const { return count[0] * count[1] * count[2]; }
  int neighbour(int block, int side) const {
    std::array<int, 3> at = place(block);
    for (int d = 0; d < 3; d++) at[d] = (at[d] + offset(side)[d] + count[d]) % count[d];
    return number(at);
  }
  // What a position changes by when it is told to that neighbour: the box's size where it goes over
  // the border.
  vec3 shift(int block, int side) const {
    const auto at = place(block);
    const auto by = [&](int d, double length) {
      const int to = at[d] + offset(side)[d];
      return to < 0 ? length : to >= count[d] ? -length : 0;
    };
    return {by(0, size.x), by(1, size.y), by(2, size.z)};
  }
  // The atoms of each block, by their numbers.
  std::vector<std::vector<int>> deal(const std::vector<vec3>& positions) const {
    std::vector<std::vector<int>> of_block(blocks());
    for (std::size_t i = 0; i < positions.size(); i++)
      of_block[block_at(positions[i])].push_back(static_cast<int>(i));
    return of_block;
  }
  vec3 low_of(int block) const { return corner(place(block)); }
  vec3 high_of(int block) const {
    const auto at = place(block);
    return corner({at[0] + 1, at[1] + 1, at[2] + 1});
  }

private:
  int block_at(const vec3& p) const {
    const auto along = [](double at, double length, int n) {
      return std::clamp(static_cast<int>(at / length * n), 0, n - 1);
    };
    return number({along(p.x - low.x, size.x, count[0]), along(p.y - low.y, size.y, count[1]),
                   along(p.z - low.z, size.z, count[2])});
  }
  int at_most(double length, int wanted) const {
    return std::clamp(wanted, 1, std::max(1, static_cast<int>(length / reach)));
  }
  int number(const std::array<int, 3>& at) const {
    return (at[0] * count[1] + at[1]) * count[2] + at[2];
  }
  std::array<int, 3> place(int block) const {
    return {block / (count[1] * count[2]), block / count[2] % count[1], block % count[2]};
  }
  vec3 corner(const std::array<int, 3>& at) const {
    return {low.x + size.x * at[0] / count[0], low.y + size.y * at[1] / count[1],
            low.z + size.z * at[2] / count[2]};
  }
};

}  // namespace apps::md
