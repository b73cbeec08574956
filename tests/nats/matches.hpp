// Whether a subject matches a pattern, as nats-server decides it.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace cleave::tests {

inline bool matches(const std::string& pattern, const std::string& subject) {
  std::istringstream p(pattern), s(subject);
  std::string expected, token;
  while (std::getline(p, expected, '.')) {
    if (!std::getline(s, token, '.')) return false;
    if (expected == ">") return true;
    if (expected != "*" && expected != token) return false;
  }
  return !std::getline(s, token, '.');
}

}  // namespace cleave::tests
