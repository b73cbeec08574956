// A line of LAMMPS's settings or of a section of coefficients, kept until what it means is known.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/line_reader.hpp"

namespace apps::lammps {

struct statement {
  place where;
  std::vector<std::string> words;

  // What is wrong with word k, which may be missing.
  [[noreturn]] void fail(std::size_t k, const std::string& expected) const {
    where.fail(expected, k < words.size() ? in_quotes(words[k]) : "the end of the line");
  }
  const std::string& word(std::size_t k, const std::string& expected) const {
    if (k >= words.size()) fail(k, expected);
    return words[k];
  }
  int number(std::size_t k, int low, int high, const std::string& what) const {
    return where.number(word(k, what), low, high, what);
  }
  double real(std::size_t k, const std::string& what) const {
    return where.real(word(k, what), what);
  }
  double positive(std::size_t k, const std::string& what) const {
    const double value = real(k, what + " above 0");
    if (!(value > 0)) fail(k, what + " above 0");
    return value;
  }
  double not_negative(std::size_t k, const std::string& what) const {
    const double value = real(k, what + " of at least 0");
    if (!(value >= 0)) fail(k, what + " of at least 0");
    return value;
  }
  void ends_at(std::size_t k, const std::string& expected = "the end of the line") const {
    if (words.size() > k) fail(k, expected);
  }
};

}  // namespace apps::lammps
