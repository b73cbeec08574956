// Writes a file, as the library does (src/machine/saved_file.hpp).
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace apps {

// write(std::ostream&) writes what is in it. Throws std::invalid_argument before that if there
// cannot be such a file, std::runtime_error if it cannot be written after all; each is one line
// that begins with its name.
void save_file(const std::string& file, const std::function<void(std::ostream&)>& write);
void save_file(const std::string& file, const std::string& text);

// Called before long work: throws std::invalid_argument if there cannot be such a file.
void require_writable(const std::string& file);

}  // namespace apps
