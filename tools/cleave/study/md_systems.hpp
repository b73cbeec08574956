// The atoms that `cleave study md` has `md` simulate.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "md_data.hpp"

namespace study::dynamics {

inline const std::vector<std::string> all_systems = {"bpti", "lysozyme", "peptide", "peptides",
                                                     "melt"};

// Where their files are.
struct places {
  std::string proteins;  // a folder that bench/proteins.py has filled; empty: none
  std::string peptide = "/usr/share/lammps/examples/peptide/data.peptide";
};

// The systems with these names; without names those of the paper, or others of as many atoms where
// these are not here. `missing` tells what is not here. Throws apps::usage_error if what is asked
// for is none of the names, or not here.
std::vector<system> systems_of(const std::vector<std::string>& names, bool quick,
                               const places& where, std::vector<std::string>& missing);

// The force field of the peptide, as a settings file of `md`. Cut off at 9 Å, as in the paper.
extern const char* const peptide_settings;

}  // namespace study::dynamics
