// Writes a file: all of it, or none at all.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "input_error.hpp"

namespace apps {

// write(std::ostream&) writes what is in it. Throws input_error.
template <class Write>
void save_file(const std::string& file, const Write& write) {
  const std::string unfinished = file + ".part";
  std::ofstream out(unfinished);
  if (out) write(out);
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(unfinished, file, error);
  if (!out || error) {
    std::filesystem::remove(unfinished, error);
    throw input_error(file, 0, "a file that can be written", "an error while writing it");
  }
}

}  // namespace apps
