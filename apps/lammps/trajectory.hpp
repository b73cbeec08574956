// Writes where atoms are at several steps, in three of LAMMPS's formats.
#pragma once

#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "../common/vec3.hpp"
#include "dcd.hpp"

namespace apps::lammps {

inline constexpr const char* trajectory_help =
    "Write atoms at each step that is told: NAME.xyz has types and positions, NAME.lammpstrj "
    "velocities and forces, too; NAME.dcd has positions, as many programs read them";

// Some of the atoms, or all of them in the order of their numbers.
struct frame {
  std::vector<int> atom;
  std::vector<vec3> position, velocity, force;
  auto fields() { return std::tie(atom, position, velocity, force); }
};

class trajectory {
public:
  // Begins the file anew. `types` from 0 on; if there are none, all atoms are of the first.
  // Throws std::runtime_error, with one line that begins with the file's name, as the others do.
  trajectory(const std::string& name, const vec3& low, const vec3& size, std::vector<int> types,
             double time_step);

  // Appends one frame, of which `parts` have the atoms, and flushes it.
  void write(int step, std::span<const frame* const> parts);

  // Called before long work: throws std::invalid_argument if there cannot be such a file.
  static void require_good(const std::string& name);

private:
  void write_xyz(int step);
  void write_dump(int step);
  int type(std::size_t atom) const { return types_.empty() ? 1 : types_[atom] + 1; }
  [[noreturn]] void fail() const;

  std::string name_;
  vec3 low_, high_;
  std::vector<int> types_;
  std::ofstream out_;
  dcd dcd_;
  frame all_;
};

}  // namespace apps::lammps
