// The numbers of a force field, by types: what settings and coefficients mean.
#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "data_file.hpp"
#include "settings.hpp"

namespace apps::lammps {

// What LAMMPS calls units.
struct unit_system {
  double boltzmann = 1;        // energy for each degree of temperature
  double energy_of_mvv = 1;    // energy of mass × velocity²
  double pressure_of_nkt = 1;  // pressure of energy / volume
  double coulomb = 1;          // energy × distance of charge²
  double time_step = 0.005, skin = 0.3;
  int relist = 5;        // steps from one list of neighbours to the next, so that it is good enough
  bool per_atom = true;  // energies are told for each atom
};

// Energy is r12 / r¹² − r6 / r⁶.
struct lj_parameters {
  double r12 = 0, r6 = 0;
};
// k (r − length)²
struct bond_parameters {
  double k = 0, length = 0;
};
// k (θ − angle)² + k13 (r13 − length13)², r13 between the outer atoms.
struct angle_parameters {
  double k = 0, angle = 0, k13 = 0, length13 = 0;
};
// k (1 + cos(n φ − shift)); weight × the pair forces between the outer atoms.
struct dihedral_parameters {
  double k = 0;
  int n = 0;
  double cos_shift = 0, sin_shift = 0, weight = 0;
};
// k (|φ| − angle)²
struct improper_parameters {
  double k = 0, angle = 0;
};

struct pair_parameters {
  pair_style style = pair_style::none;
  double inner_lj = 0, outer_lj = 0, inner_coulomb = 0, outer_coulomb = 0;
  double coulomb = 0;             // energy × distance of charge², with the dielectric constant
  std::vector<lj_parameters> lj;  // of each two types
  std::vector<lj_parameters> one_four;  // the same, for the outer atoms of dihedrals
  auto fields() {
    return std::tie(style, inner_lj, outer_lj, inner_coulomb, outer_coulomb, coulomb, lj, one_four);
  }
};

struct force_field {
  unit_system units;
  int types = 0;  // of atoms
  std::vector<double> mass;
  pair_parameters pairs;
  std::array<double, 4> special_lj{}, special_coulomb{};
  std::vector<bond_parameters> bond;
  std::vector<angle_parameters> angle;
  std::vector<dihedral_parameters> dihedral;
  std::vector<improper_parameters> improper;
  double time_step = 0, skin = 0;
  int relist = 0;
  auto fields() {
    return std::tie(units, types, mass, pairs, special_lj, special_coulomb, bond, angle, dihedral,
                    improper, time_step, skin, relist);
  }
};

// Throws input_error where a coefficient is missing or cannot be used.
force_field force_field_of(const settings& how, const data_file& of);

}  // namespace apps::lammps
