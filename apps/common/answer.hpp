// What a program found, as people and other programs read it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace apps {

using field = std::variant<std::int64_t, double, std::string, std::vector<int>, std::vector<double>,
                           std::vector<std::int64_t>, std::vector<std::string>>;

struct answer {
  field main;                                            // "answer" in JSON
  std::string text;                                      // on a terminal
  std::vector<std::pair<std::string, field>> more = {};  // further names and values in JSON
  std::string wrong = {};                                // what it should have been, if it is wrong
};

// An answer that is one number, `expected` if that is known.
inline answer counted(std::uint64_t n, const std::string& what,
                      std::optional<std::uint64_t> expected = std::nullopt) {
  auto text = [&](std::uint64_t count) { return std::to_string(count) + what; };
  answer a{static_cast<std::int64_t>(n), text(n)};
  if (expected && n != *expected) a.wrong = text(*expected);
  return a;
}

// An answer that is right if it hardly differs from what it should be.
inline answer small_error(double relative) {
  char text[40];
  std::snprintf(text, sizeof text, "relative error %.1e", relative);
  answer a{relative, text};
  if (!(relative < 1e-12)) a.wrong = "less than 1e-12";
  return a;
}

}  // namespace apps
