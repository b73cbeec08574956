// Names of the places in programs that call MPI.
#pragma once

#include <string>
#include <vector>

#include "record/job.hpp"

namespace record {

// As "Recv in exchange+0x1f", of the symbols that the files have; else with the file's name.
std::vector<std::string> names_of(const std::vector<site>& sites);

}  // namespace record
