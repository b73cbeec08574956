#pragma once

#include <optional>
#include <string_view>

/// Numbers that the user sets. All functions throw std::invalid_argument, which names the setting,
/// what was expected and what was found.
namespace cleave::machine {

/// A whole number from `least` to `most`.
long whole_number(std::string_view name, std::string_view text, long least, long most);

/// The same from an environment variable; `otherwise` if it is unset or empty.
long environment(const char* name, long least, long most, long otherwise);

/// Takes `NAME N` or `NAME=N` out of a command line; the last one counts.
std::optional<long> take_option(int& argc, char** argv, std::string_view name, long least,
                                long most);

}  // namespace cleave::machine
