#pragma once

#include <optional>
#include <string>
#include <string_view>

/// What the user sets. All functions throw std::invalid_argument, which names the setting,
/// what was expected and what was found.
namespace cleave::machine {

/// A whole number from `least` to `most`.
long whole_number(std::string_view name, std::string_view text, long least, long most);

/// A whole number from `least` to `most` in an environment variable; `otherwise` if it is unset or
/// empty.
long environment(const char* name, long least, long most, long otherwise);

/// Takes `NAME TEXT` or `NAME=TEXT` out of a command line, up to the word `--`; the last one
/// counts. An empty text is refused; `what` says what is expected.
std::optional<std::string> take_text(int& argc, char** argv, std::string_view name,
                                     std::string_view what);

/// Takes an option with a whole number out of a command line, as take_text() does one with a text.
std::optional<long> take_option(int& argc, char** argv, std::string_view name, long least,
                                long most);

}  // namespace cleave::machine
