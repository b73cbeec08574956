// Writes a graph to a file: all of it, or no file at all.
#pragma once

#include <ostream>
#include <string>

#include "graph.hpp"
#include "support/save_file.hpp"

namespace apps::clique {

// Writes the graph in the DIMACS format. Throws input_error.
inline void save_dimacs(const graph& g, const std::string& file, const std::string& comment) {
  save_file(file, [&](std::ostream& out) { write_dimacs(g, out, comment); });
}

}  // namespace apps::clique
