// What a simulation is to compute, in the commands of LAMMPS's input.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "statement.hpp"

namespace apps::lammps {

inline constexpr const char* settings_help =
    "Settings are commands of LAMMPS, each on a line: units (real, lj), atom_style (full, "
    "molecular,\n"
    "charge, atomic), pair_style (lj/charmm/coul/charmm, lj/cut/coul/cut, lj/cut), bond_style\n"
    "(harmonic), angle_style and dihedral_style (harmonic, charmm), improper_style (harmonic), "
    "the\n"
    "coefficients of each, pair_modify mix, special_bonds, mass, dielectric, timestep, neighbor,\n"
    "neigh_modify, boundary p p p, fix ID all nve.\n";

enum class pair_style { none, lj_cut, lj_cut_coul_cut, lj_charmm_coul_charmm };

// The kinds of terms between bonded atoms.
enum kind { bonds, angles, dihedrals, impropers, kinds };
inline constexpr std::array<const char*, kinds> name_of_kind = {"bond", "angle", "dihedral",
                                                                "improper"};
inline constexpr std::array<int, kinds> atoms_of_kind = {2, 3, 4, 4};

struct pair_settings {
  pair_style style = pair_style::none;
  // Beyond `inner` forces are made smaller, beyond `outer` there are none.
  double inner_lj = 0, outer_lj = 0, inner_coulomb = 0, outer_coulomb = 0;
  std::optional<bool> arithmetic;  // how coefficients of two types are mixed, if that is said
  std::vector<statement> coefficients;
};

struct bonded_settings {
  std::string style;  // empty: there is none
  std::vector<statement> coefficients;
};

struct settings {
  std::string name = "settings";  // the file
  std::string units = "lj";
  std::string atom_style = "atomic";
  pair_settings pairs;
  std::array<bonded_settings, kinds> bonded;
  // What remains of a pair's forces for atoms that are 1, 2 and 3 bonds apart; at [0] 1.
  std::array<double, 4> special_lj{1, 0, 0, 0}, special_coulomb{1, 0, 0, 0};
  std::vector<statement> masses;
  double dielectric = 1;
  std::optional<double> time_step, skin;
  std::optional<int> relist;  // steps from one list of neighbours to the next
};

// Throws input_error.
settings read_settings(const std::string& name);

}  // namespace apps::lammps
