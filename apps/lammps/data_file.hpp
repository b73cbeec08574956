// The atoms of a simulation and what joins them, as in LAMMPS's data files.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "../common/vec3.hpp"
#include "data_reader.hpp"
#include "settings.hpp"

namespace apps::lammps {

// A bond, an angle, a dihedral or an improper. Types and atoms count from 0.
struct term {
  int type = 0;
  std::array<int, 4> atom{};
};

struct atoms_of_file {
  std::vector<vec3> position, velocity;  // the positions are in the box
  std::vector<image> away;               // how often each has left it
  std::vector<int> type;
  std::vector<double> charge;
};

struct data_file {
  std::string name;
  vec3 low, size;  // the box
  atoms_of_file atoms;
  int types = 0;                                // of atoms
  std::array<int, kinds> types_of{};            // of bonds, angles and so on
  std::array<std::vector<term>, kinds> terms;   // the bonds, angles and so on
  std::vector<statement> masses, pairs, mixed;  // sections Masses, Pair Coeffs and PairIJ Coeffs
  std::array<std::vector<statement>, kinds> coefficients;
};

// Reads a file of the atom style that the settings name. Throws input_error.
data_file read_data_file(const std::string& name, const settings& how);

}  // namespace apps::lammps
