// Writes a graph to a file: all of it, or no file at all.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "graph.hpp"

namespace apps::clique {

// Throws input_error.
inline void save_dimacs(const graph& g, const std::string& file, const std::string& comment) {
  const std::string unfinished = file + ".part";
  std::ofstream out(unfinished);
  if (out) write_dimacs(g, out, comment);
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(unfinished, file, error);
  if (!out || error) {
    std::filesystem::remove(unfinished, error);
    throw input_error(file, 0, "a file that can be written", "an error while writing it");
  }
}

}  // namespace apps::clique
