// Forces between pairs of atoms with charges: Lennard-Jones and Coulomb, cut off.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "../lammps/force_field.hpp"
#include "pairs.hpp"

namespace apps::md {

// Energies of pairs and the sum of r·F over them.
struct pair_sums {
  double lj = 0, coulomb = 0, virial = 0;
};

// What is left of a potential at a squared distance: all of it up to `inner`, nothing from `outer`
// on, and a smooth curve between them. (MacKerell et al., J. Phys. Chem. B 102:3586, as LAMMPS.)
struct smooth_end {
  double inner2, outer2, scale;
  smooth_end(double inner, double outer)
      : inner2(inner * inner),
        outer2(outer * outer),
        scale(1 / ((outer2 - inner2) * (outer2 - inner2) * (outer2 - inner2))) {}
  struct share {
    double of_force, of_energy;  // of_energy: what the slope of the curve makes of the energy
  };
  share at(double r2) const {
    const double x = std::min(std::max(r2, inner2), outer2), left = (outer2 - x) * scale;
    return {left * (outer2 - x) * (outer2 + 2 * x - 3 * inner2), 12 * x * left * (x - inner2)};
  }
};
struct sharp_end {
  double outer2;
  sharp_end(double /*inner*/, double outer) : outer2(outer * outer) {}
  struct share {
    double of_force;
    static constexpr double of_energy = 0;
  };
  share at(double r2) const { return {r2 < outer2 ? 1.0 : 0.0}; }
};

// What two atoms do to each other. As in LAMMPS the Coulomb force is made smaller as the energy is,
// so it is not the energy's derivative where that ends smoothly.
template <class End>
struct pair_force {
  explicit pair_force(const lammps::pair_parameters& p)
      : lj_end(p.inner_lj, p.outer_lj), coulomb_end(p.inner_coulomb, p.outer_coulomb) {}
  struct result {
    double strength, lj, coulomb;  // strength: the force / r
  };
  // `charges`: their product, in units of energy × distance.
  result operator()(double r2, const lammps::lj_parameters& p, double charges) const {
    const double inverse = 1 / r2, inverse6 = inverse * inverse * inverse;
    const auto lj = lj_end.at(r2), coulomb = coulomb_end.at(r2);
    const double repulsion = p.r12 * inverse6, energy = inverse6 * (repulsion - p.r6);
    const double by_charge = charges * std::sqrt(inverse) * coulomb.of_force;
    const double by_lj =
        6 * inverse6 * (2 * repulsion - p.r6) * lj.of_force + energy * lj.of_energy;
    return {(by_lj + by_charge) * inverse, energy * lj.of_force, by_charge};
  }
  End lj_end, coulomb_end;
};

// What is known of atoms and ghosts.
struct atom_kinds {
  std::vector<int> type;
  std::vector<double> charge;
  auto fields() { return std::tie(type, charge); }
};

template <bool Counts, class End>
pair_sums add_pair_forces(const lammps::force_field& field, const pair_list& pairs,
                          const atom_kinds& atoms, std::span<const vec3> position,
                          std::span<vec3> force) {
  std::array<double, near_pairs::most> charges;
  std::array<lammps::lj_parameters, near_pairs::most> lj;
  const pair_force<End> between(field.pairs);
  const double cut2 = std::max(between.lj_end.outer2, between.coulomb_end.outer2);
  pair_sums sum;
  add_near_pairs(pairs, cut2, position, force, [&](std::size_t i, near_pairs& near) {
    const double charge = field.pairs.coulomb * atoms.charge[i];
    const int first = atoms.type[i] * field.types;
    const lammps::lj_parameters* const row = &field.pairs.lj[static_cast<std::size_t>(first)];
    for (std::size_t m = 0; m < near.count; m++) {
      charges[m] = charge * atoms.charge[near.partner[m]];
      lj[m] = row[atoms.type[near.partner[m]]];
    }
    for (std::size_t m = 0; m < near.count; m++) {
      const auto found = between(near.square[m], lj[m], charges[m]);
      near.strength[m] = found.strength;
      if constexpr (Counts) {
        sum.lj += found.lj;
        sum.coulomb += found.coulomb;
        sum.virial += near.square[m] * found.strength;
      }
    }
  });
  return sum;
}

}  // namespace apps::md
