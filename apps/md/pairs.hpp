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

// Partners of one atom that are near enough, and what is to be found of them: by what their
// distances are multiplied to give forces.
struct near_pairs {
  static constexpr std::size_t most = 256;

  std::size_t count = 0;
  std::array<vec3, most> distance;
  std::array<double, most> square, strength;
  std::array<int, most> partner;
};

// Adds to `force`, of both atoms of each pair. In three passes over the partners of an atom: those
// that are near enough are chosen without jumps, then find(atom, pairs) computes for several at
// once.
template <class Find>
[[gnu::always_inline]] inline void add_near_pairs(const pair_list& pairs, double cut2,
                                                  std::span<const vec3> position,
                                                  std::span<vec3> force, const Find& find) {
  near_pairs near;
  for (std::size_t i = 0; i + 1 < pairs.first.size(); i++) {
    const vec3 p = position[i];
    vec3 of_i;
    for (int begin = pairs.first[i], end; begin < pairs.first[i + 1]; begin = end) {
      end = std::min(begin + static_cast<int>(near_pairs::most), pairs.first[i + 1]);
      std::size_t n = 0;
      for (int k = begin; k < end; k++) {
        const int j = pairs.partner[k];
        const vec3 d = p - position[j];
        const double r2 = dot(d, d);
        near.distance[n] = d;
        near.square[n] = r2;
        near.partner[n] = j;
        n += static_cast<std::size_t>(r2 < cut2);
      }
      near.count = n;
      find(i, near);
      for (std::size_t m = 0; m < n; m++) {
        const vec3 f = near.strength[m] * near.distance[m];
        of_i += f;
        force[near.partner[m]] -= f;
      }
    }
    force[i] += of_i;
  }
}

template <bool Counts>
energies add_forces(const melt& /*system*/, const pair_list& pairs, std::span<const vec3> position,
                    std::span<vec3> force) {
  energies sum;
  add_near_pairs(pairs, cutoff * cutoff, position, force, [&](std::size_t, near_pairs& near) {
    for (std::size_t m = 0; m < near.count; m++) {
      const double inverse = 1 / near.square[m], inverse6 = inverse * inverse * inverse;
      near.strength[m] = 48 * inverse * inverse6 * (inverse6 - 0.5);
      if constexpr (Counts) {
        sum.potential += 4 * inverse6 * (inverse6 - 1);
        sum.virial += near.square[m] * near.strength[m];
      }
    }
  });
  return sum;
}

}  // namespace apps::md
