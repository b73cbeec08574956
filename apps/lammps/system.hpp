// Atoms, what joins them, and the forces between them: all that a simulation begins with.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "force_field.hpp"

namespace apps::lammps {

// Lists of which each atom has one: that of atom i is item[first[i]], …, item[first[i + 1] - 1].
template <class T>
struct lists {
  std::vector<int> first;
  std::vector<T> item;
  auto fields() { return std::tie(first, item); }
};

// An atom that is one to three bonds away.
struct near_by_bonds {
  int atom = 0, bonds = 0;
};

struct system {
  vec3 low, size;  // the box
  std::vector<vec3> position, velocity;
  std::vector<int> type;
  std::vector<double> charge;
  std::array<std::vector<term>, kinds> terms;
  std::array<lists<int>, kinds> terms_of;  // by atom, the terms that it is in
  lists<near_by_bonds> special;
  force_field field;
  auto fields() {
    return std::tie(low, size, position, velocity, type, charge, terms, terms_of, special, field);
  }
};

// How often the box is repeated in each direction.
struct copies {
  int x = 1, y = 1, z = 1;
};

// Repeats a file's box. Atoms that have left it are put back for this, so that a molecule that
// crosses the border is whole in each copy, as LAMMPS does. Throws input_error if that is not so:
// two bonded atoms have images that do not fit.
void replicate(data_file& f, const copies& by);

// Throws input_error.
system make_system(const settings& how, const data_file& from);

}  // namespace apps::lammps
