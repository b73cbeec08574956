// A Lennard-Jones liquid in a periodic box, in reduced units: mass, depth and width of the
// potential are 1.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include "../common/random.hpp"
#include "../common/vec3.hpp"

namespace apps::md {

inline constexpr double cutoff = 2.5;  // there is no force beyond it
inline constexpr double skin = 0.3;    // pairs up to here are listed, for some steps
inline constexpr double reach = cutoff + skin;
inline constexpr int relist = 20;  // steps from one list to the next
inline constexpr double time_step = 0.005;

struct energies;
struct state;
struct pair_list;

// A system of atoms, one of the two that blocks and simulations are made for (README.md tells what
// they ask of one). An atom's number is its place in `position`.
struct melt {
  using sums = energies;
  using found = state;
  using neighbours = pair_list;

  vec3 low, size;  // the box
  std::vector<vec3> position, velocity;

  static constexpr double reach() { return md::reach; }
  static constexpr int relist() { return md::relist; }
  static constexpr double drift() { return time_step; }
  // What an atom's velocity changes by for each unit of force in that share of a step.
  static constexpr double push(int /*atom*/, double share) { return share * time_step; }
  // Twice an atom's kinetic energy.
  static double motion(int /*atom*/, const vec3& v) { return dot(v, v); }
};

// n x n x n cells of a face-centred cubic lattice of that density, four atoms each, at rest as a
// whole.
inline melt lattice(int n, double density = 0.8442, double temperature = 1.44) {
  const double edge = std::cbrt(4 / density);
  melt m{{}, {n * edge, n * edge, n * edge}, {}, {}};
  for (int x = 0; x < 2 * n; x++)
    for (int y = 0; y < 2 * n; y++)
      for (int z = 0; z < 2 * n; z++)
        if ((x + y + z) % 2 == 0) m.position.push_back({x * edge / 2, y * edge / 2, z * edge / 2});
  random_numbers next(n);
  vec3 sum;
  const auto count = static_cast<double>(m.position.size());
  for (std::size_t i = 0; i < m.position.size(); i++) {
    const double x = next.fraction(), y = next.fraction(), z = next.fraction();
    m.velocity.push_back({x - 0.5, y - 0.5, z - 0.5});
    sum += m.velocity.back();
  }
  double squares = 0;
  for (vec3& v : m.velocity) {
    v -= 1 / count * sum;
    squares += dot(v, v);
  }
  const double scale = std::sqrt(3 * (count - 1) * temperature / squares);
  for (vec3& v : m.velocity) v = scale * v;
  return m;
}

// A dense drop in a thin gas, in a box of 3n x n x n cells of such a lattice. Within its radius, a
// third of the box's width, the drop has all places of the lattice; the gas has one in 32. The drop
// begins in the first third of the box and travels along it.
inline melt drop(int n, double density = 0.75) {
  constexpr double speed = 2, heat = 3;
  constexpr int thin = 4;  // in each direction, in halves of a cell
  const double edge = std::cbrt(4 / density), radius = n * edge / 3;
  const vec3 middle{n * edge / 2, n * edge / 2, n * edge / 2};
  melt m{{}, {3 * n * edge, n * edge, n * edge}, {}, {}};
  random_numbers next(n);
  for (int x = 0; x < 6 * n; x++)
    for (int y = 0; y < 2 * n; y++)
      for (int z = 0; z < 2 * n; z++) {
        const vec3 place{x * edge / 2, y * edge / 2, z * edge / 2}, off = place - middle;
        const bool inside = dot(off, off) < radius * radius;
        if (inside ? (x + y + z) % 2 != 0 : x % thin + y % thin + z % thin != 0) continue;
        const double vx = next.fraction(), vy = next.fraction(), vz = next.fraction();
        m.position.push_back(place);
        m.velocity.push_back(heat * vec3{vx - 0.5, vy - 0.5, vz - 0.5});
        if (inside) m.velocity.back().x += speed;
      }
  return m;
}

// What is known of all atoms at one moment; the first four as LAMMPS prints them.
struct state {
  int step = 0;
  double temperature = 0, potential = 0, total = 0;  // the energies are per atom
  double pressure = 0;
  friend bool operator==(const state&, const state&) = default;
};

// Sums over some of the atoms: twice the kinetic energy, the potential, and r·F over pairs.
struct energies {
  double motion = 0, potential = 0, virial = 0;
  energies& operator+=(const energies& b) {
    motion += b.motion;
    potential += b.potential;
    virial += b.virial;
    return *this;
  }
};

inline state state_at(int step, const melt& m, const energies& sum) {
  const auto n = static_cast<double>(m.position.size());
  const double volume = m.size.x * m.size.y * m.size.z;
  // One atom has no degree of freedom besides its motion as a whole, which is no heat.
  const double freedom = 3 * n - 3, motion = freedom > 0 ? sum.motion : 0;
  return {step, freedom > 0 ? motion / freedom : 0, sum.potential / n,
          (sum.potential + motion / 2) / n, (motion + sum.virial) / (3 * volume)};
}

}  // namespace apps::md
