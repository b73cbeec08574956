#include "machine/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cleave::machine {

long whole_number(std::string_view name, std::string_view text, long least, long most) {
  long n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < least || n > most) {
    throw std::invalid_argument(std::string(name) + ": expected a whole number from " +
                                std::to_string(least) + " to " + std::to_string(most) + ", got '" +
                                std::string(text) + "'");
  }
  return n;
}

long environment(const char* name, long least, long most, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : whole_number(name, text, least, most);
}

std::optional<long> take_option(int& argc, char** argv, std::string_view name, long least,
                                long most) {
  std::optional<long> found;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == name) {
      if (i + 1 == argc)
        throw std::invalid_argument(std::string(name) + ": expected a number after it");
      found = whole_number(name, argv[++i], least, most);
    } else if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
      found = whole_number(name, argument.substr(name.size() + 1), least, most);
    } else {
      argv[kept++] = argv[i];
    }
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  return found;
}

}  // namespace cleave::machine
