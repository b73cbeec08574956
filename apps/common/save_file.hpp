// Writes a file: all of it, or none at all. What is there and is no file (a device, a pipe) is
// written to.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "input_error.hpp"

namespace apps {

// write(std::ostream&) writes what is in it. Throws input_error.
template <class Write>
void save_file(const std::string& file, const Write& write) {
  std::error_code error;
  std::filesystem::path to = file;  // where a link leads to
  for (int links = 0; links < 40 && std::filesystem::is_symlink(to, error); ++links)
    to = to.parent_path() / std::filesystem::read_symlink(to, error);
  const auto is = std::filesystem::status(to, error);
  const bool whole = !std::filesystem::exists(is) || std::filesystem::is_regular_file(is);
  std::filesystem::path unfinished = to;
  if (whole) (unfinished += ".part") += std::to_string(getpid());
  std::ofstream out(unfinished);
  if (out) write(out);
  out.close();
  error.clear();
  if (out && whole) std::filesystem::rename(unfinished, to, error);
  if (!out || error) {
    if (whole) std::filesystem::remove(unfinished, error);
    throw input_error(file, 0, "a file that can be written", "an error while writing it");
  }
}

}  // namespace apps
