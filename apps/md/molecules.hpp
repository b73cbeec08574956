// Molecules with charges and bonds: what blocks ask of a system (README.md).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "molecular_list.hpp"

namespace apps::md {

// Sums over some of the atoms, or over the terms and pairs that a block computes.
struct molecular_sums {
  double motion = 0;  // twice the kinetic energy
  double lj = 0, coulomb = 0, virial = 0;
  std::array<double, lammps::kinds> bonded{};
  std::array<double, lammps::kinds> terms{};  // how many were computed
  double farthest_square = 0;                 // as molecular_list's
  molecular_sums& operator+=(const molecular_sums& b) {
    motion += b.motion, lj += b.lj, coulomb += b.coulomb, virial += b.virial;
    for (int k = 0; k < lammps::kinds; k++) bonded[k] += b.bonded[k], terms[k] += b.terms[k];
    farthest_square = std::max(farthest_square, b.farthest_square);
    return *this;
  }
};

// What is known of all atoms at one moment.
struct molecular_state {
  int step = 0;
  double temperature = 0, lj = 0, coulomb = 0;
  std::array<double, lammps::kinds> bonded{};
  double potential = 0, total = 0, pressure = 0;
  double lost_terms = 0;  // bonded terms that no block has computed
  double farthest = 0;    // how far an atom has come since a list was made
  friend bool operator==(const molecular_state&, const molecular_state&) = default;
};

struct molecules : lammps::system {
  using sums = molecular_sums;
  using found = molecular_state;
  using neighbours = molecular_list;

  molecules() = default;
  explicit molecules(lammps::system s) : system(std::move(s)) {
    for (double m : field.mass) push_.push_back(field.time_step / (m * field.units.energy_of_mvv));
  }

  double reach() const {
    return std::max(field.pairs.outer_lj, field.pairs.outer_coulomb) + field.skin;
  }
  int relist() const { return field.relist; }
  double drift() const { return field.time_step; }
  double push(int atom, double share) const { return share * push_[type[atom]]; }
  double motion(int atom, const vec3& v) const { return field.mass[type[atom]] * dot(v, v); }
  auto fields() { return std::tuple_cat(system::fields(), std::tie(push_)); }

private:
  std::vector<double> push_;  // by types
};

inline void list_neighbours(const molecules& s, const vec3& low, const vec3& high,
                            std::span<const vec3> position, std::span<const int> atoms,
                            std::size_t own, molecular_list& to) {
  list_maker(s, position, atoms, own).make(low, high, s.reach(), to);
}

template <bool Counts, class End>
void add_nonbonded(const molecules& s, const molecular_list& list, std::span<const vec3> position,
                   std::span<vec3> force, molecular_sums& sum) {
  const pair_sums all =
      add_pair_forces<Counts, End>(s.field, list.pairs, list.atoms, position, force);
  sum.lj += all.lj, sum.coulomb += all.coulomb, sum.virial += all.virial;
  const pair_force<End> between(s.field.pairs);
  for (const shared_pair& pair : list.shared) {
    const vec3 d = position[pair.i] - position[pair.j];
    const double r2 = dot(d, d);
    auto lj = s.field.pairs.lj[list.atoms.type[pair.i] * s.field.types + list.atoms.type[pair.j]];
    lj.r12 *= s.field.special_lj[pair.bonds], lj.r6 *= s.field.special_lj[pair.bonds];
    const double charges = s.field.special_coulomb[pair.bonds] * s.field.pairs.coulomb *
                           list.atoms.charge[pair.i] * list.atoms.charge[pair.j];
    const auto found = between(r2, lj, charges);
    force[pair.i] += found.strength * d, force[pair.j] -= found.strength * d;
    sum.lj += found.lj, sum.coulomb += found.coulomb, sum.virial += r2 * found.strength;
  }
}

// The share of the pair forces between the outer atoms of a dihedral; they are not cut off.
inline void add_one_four(const molecules& s, const molecular_list& list, const local_term& t,
                         std::span<const vec3> position, std::span<vec3> force,
                         molecular_sums& sum) {
  const double weight = s.field.dihedral[t.type].weight;
  if (weight == 0) return;
  const int i = t.at[0], j = t.at[3];
  const vec3 d = position[i] - position[j];
  const auto& p = s.field.pairs.one_four[list.atoms.type[i] * s.field.types + list.atoms.type[j]];
  const double inverse = 1 / dot(d, d), inverse6 = inverse * inverse * inverse;
  const double coulomb = weight * s.field.pairs.coulomb * list.atoms.charge[i] *
                         list.atoms.charge[j] * std::sqrt(inverse);
  const double lj = weight * inverse6 * (p.r12 * inverse6 - p.r6);
  const double by_lj = weight * 6 * inverse6 * (2 * p.r12 * inverse6 - p.r6);
  const double strength = (by_lj + coulomb) * inverse;
  force[i] += strength * d, force[j] -= strength * d;
  sum.lj += lj, sum.coulomb += coulomb, sum.virial += by_lj + coulomb;
}

template <bool Counts>
molecular_sums add_forces(const molecules& s, molecular_list& list, std::span<const vec3> position,
                          std::span<vec3> force) {
  molecular_sums sum;
  if (s.field.pairs.style == lammps::pair_style::lj_charmm_coul_charmm)
    add_nonbonded<Counts, smooth_end>(s, list, position, force, sum);
  else add_nonbonded<Counts, sharp_end>(s, list, position, force, sum);
  const auto add_kind = [&](lammps::kind k, const auto& parameters) {
    term_sums of_kind;
    for (const local_term& t : list.terms[k])
      of_kind += add_term(parameters[t.type], t.at, position, force);
    sum.bonded[k] = of_kind.energy, sum.virial += of_kind.virial;
    sum.terms[k] = static_cast<double>(list.terms[k].size());
  };
  add_kind(lammps::bonds, s.field.bond);
  add_kind(lammps::angles, s.field.angle);
  add_kind(lammps::dihedrals, s.field.dihedral);
  add_kind(lammps::impropers, s.field.improper);
  for (const local_term& t : list.terms[lammps::dihedrals])
    add_one_four(s, list, t, position, force, sum);
  for (std::size_t i = 0; i < list.listed.size(); i++) {
    const vec3 way = position[i] - list.listed[i];
    list.farthest_square = std::max(list.farthest_square, dot(way, way));
  }
  sum.farthest_square = list.farthest_square;
  return sum;
}

inline molecular_state state_at(int step, const molecules& s, const molecular_sums& sum) {
  const auto& units = s.field.units;
  const auto n = static_cast<double>(s.position.size());
  const double volume = s.size.x * s.size.y * s.size.z, freedom = 3 * n - 3;
  const double motion = freedom > 0 ? units.energy_of_mvv * sum.motion : 0;
  const double share = units.per_atom ? 1 / n : 1;  // energies are of an atom, or of all
  molecular_state found;
  found.step = step;
  found.temperature = freedom > 0 ? motion / (freedom * units.boltzmann) : 0;
  found.lj = share * sum.lj, found.coulomb = share * sum.coulomb;
  found.potential = found.lj + found.coulomb;
  for (int k = 0; k < lammps::kinds; k++) {
    found.bonded[k] = share * sum.bonded[k];
    found.potential += found.bonded[k];
    found.lost_terms += static_cast<double>(s.terms[k].size()) - sum.terms[k];
  }
  found.total = found.potential + share * motion / 2;
  found.pressure = (motion + sum.virial) / (3 * volume) * units.pressure_of_nkt;
  found.farthest = std::sqrt(sum.farthest_square);
  return found;
}

}  // namespace apps::md
