// Pairs of atoms that are near each other, and the forces between them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "cells.hpp"
#include "melt.hpp"

namespace apps::md {

// Each pair once, of which one atom at least is of the first `own`.
struct pair_list {
  // Where the partners of atom i begin; they end where those of i + 1 begin.
  std::vector<int> first;
  std::vector<int> partner;  // has a higher number than i
  auto fields() { return std::tie(first, partner); }
};

// before(i) is called before the partners of an atom are chosen, which keep(j) takes as 0 or 1, and
// after(i) then.
template <class Before, class Keep, class After>
void list_pairs(const vec3& low, const vec3& high, double near, std::span<const vec3> positions,
                std::size_t own, pair_list& to, const Before& before, const Keep& keep,
                const After& after) {
  cells in(low, high, near);
  in.sort(positions);
  std::vector<vec3> sorted;
  sorted.reserve(positions.size());
  for (int i : in.order()) sorted.push_back(positions[i]);
  to.first.assign(1, 0);
  std::size_t n = 0;
  for (std::size_t i = 0; i < own; i++) {
    const vec3 p = positions[i];
    before(i);
    in.for_near(i, [&](int first, int last) {
      const std::size_t room = n + static_cast<std::size_t>(last - first);
      if (to.partner.size() < room) to.partner.resize(2 * room);
      for (int k = first; k < last; k++) {  // without a jump that cannot be foretold
        const vec3 d = p - sorted[k];
        const int j = in.order()[k];
        to.partner[n] = j;
        n += static_cast<std::size_t>(static_cast<int>(dot(d, d) < near * near) &
                                      static_cast<int>(j > static_cast<int>(i)) & keep(j));
      }
    });
    after(i);
    to.first.push_back(static_cast<int>(n));
  }
  to.partner.resize(n);
}

inline void list_neighbours(const melt& /*system*/, const vec3& low, const vec3& high,
                            std::span<const vec3> positions, std::span<const int> /*atoms*/,
                            std::size_t own, pair_list& to) {
  const auto nothing = [](std::size_t) {};
  list_pairs(
      low, high, reach, positions, own, to, nothing, [](int) { return 1; }, nothing);
}

// Adds to `force`, of both atoms of each pair. In three passes over the partners of an atom: those
// that are near enough are chosen without jumps, then the division is done for several at once.
template <bool Counts>
energies add_forces(const melt& /*system*/, const pair_list& pairs, std::span<const vec3> position,
                    std::span<vec3> force) {
  constexpr std::size_t most = 256;  // partners at a time
  std::array<vec3, most> distance;
  std::array<double, most> square, strength;
  std::array<int, most> near;
  energies sum;
  for (std::size_t i = 0; i + 1 < pairs.first.size(); i++) {
    const vec3 p = position[i];
    vec3 of_i;
    for (int begin = pairs.first[i], end; begin < pairs.first[i + 1]; begin = end) {
      end = std::min(begin + static_cast<int>(most), pairs.first[i + 1]);
      std::size_t n = 0;
      for (int k = begin; k < end; k++) {
        const int j = pairs.partner[k];
        const vec3 d = p - position[j];
        const double r2 = dot(d, d);
        distance[n] = d;
        square[n] = r2;
        near[n] = j;
        n += static_cast<std::size_t>(r2 < cutoff * cutoff);
      }
      for (std::size_t m = 0; m < n; m++) {
        const double inverse = 1 / square[m], inverse6 = inverse * inverse * inverse;
        strength[m] = 48 * inverse * inverse6 * (inverse6 - 0.5);
        if constexpr (Counts) {
          sum.potential += 4 * inverse6 * (inverse6 - 1);
          sum.virial += square[m] * strength[m];
        }
      }
      for (std::size_t m = 0; m < n; m++) {
        const vec3 f = strength[m] * distance[m];
        of_i += f;
        force[near[m]] -= f;
      }
    }
    force[i] += of_i;
  }
  return sum;
}

}  // namespace apps::md
