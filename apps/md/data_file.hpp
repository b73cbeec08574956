// LAMMPS's format for the atoms of a simulation, as far as it is needed here: "atomic" style.
#pragma once

#include <string>

#include "melt.hpp"

namespace apps::md {

inline constexpr const char* data_file_help =
    "A data file is as LAMMPS reads and writes it (read_data, write_data), with a box at right\n"
    "angles and atoms numbered from 1 on. Without settings its atom style is \"atomic\": one "
    "type,\n"
    "mass 1, velocities.\n";

// Reads a file in that format. Throws input_error.
melt read_data_file(const std::string& name);
// Writes the file whole or not at all. Throws input_error.
void write_data_file(const melt& m, const std::string& name);

}  // namespace apps::md
