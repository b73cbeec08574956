// Writes positions of atoms as a DCD file: CHARMM's format with a box, as LAMMPS's `dump dcd`, VMD
// and others have it. Numbers have the machine's byte order.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "../common/vec3.hpp"

namespace apps::lammps {

class dcd {
public:
  // `time_step`: of the simulation, in its own units.
  dcd(std::ostream& to, const vec3& box, double time_step)
      : to_(&to), box_(box), time_step_(time_step) {}
  // Appends one frame, and says at the file's head that it is there. Steps come in their order,
  // each with the same number of atoms. What fails is in the stream's state.
  void write(int step, const std::vector<vec3>& positions);

private:
  void write_head(std::size_t atoms);

  std::ostream* to_;
  vec3 box_;
  double time_step_;
  std::int32_t frames_ = 0, first_ = 0, last_ = 0;
  std::int32_t every_ = 0;  // steps from the first frame to the second
};

}  // namespace apps::lammps
