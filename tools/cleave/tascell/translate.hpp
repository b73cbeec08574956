// Tascell programs made C++ (docs/tascell.md). Source of the language: the Tascell paper, section
// 2.2 and figure 4.
#pragma once

#include <string>
#include <string_view>

namespace tascell {

// Returns the program as C++ on Cleave's public headers; `file` names it in messages, and for the
// compiler. Throws apps::input_error.
std::string translate(const std::string& file, std::string_view program);

}  // namespace tascell
