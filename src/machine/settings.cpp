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

std::optional<std::string> take_text(int& argc, char** argv, std::string_view name,
                                     std::string_view what) {
  std::optional<std::string> found;
  int kept = 1, i = 1;
  for (; i < argc && argv[i] != std::string_view("--"); ++i) {
    const std::string_view argument = argv[i];
    if (argument == name) {
      found = i + 1 < argc ? argv[++i] : "";
    } else if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
      found = argument.substr(name.size() + 1);
    } else {
      argv[kept++] = argv[i];
      continue;
    }
    if (found->empty())
      throw std::invalid_argument(std::string(name) + ": expected " + std::string(what) +
                                  " after it, got nothing");
  }
  while (i < argc) argv[kept++] = argv[i++];
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  return found;
}

std::optional<long> take_option(int& argc, char** argv, std::string_view name, long least,
                                long most) {
  const auto text = take_text(argc, argv, name, "a number");
  if (!text) return std::nullopt;
  return whole_number(name, *text, least, most);
}

}  // namespace cleave::machine
