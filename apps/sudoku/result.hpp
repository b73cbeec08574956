// What is asked of a puzzle, and what was found.
#pragma once

#include <cstdint>
#include <vector>

#include "grid.hpp"

namespace apps::sudoku {

enum class question : std::uint8_t {
  first,  // the first solution, in the order of the search
  all,    // how many there are
  unique  // whether there are none, one, or more
};

struct result {
  std::uint64_t solutions = 0;  // as many as the question needs
  digits first{};               // the solution, if that was the question
  friend bool operator==(const result&, const result&) = default;
};
using results = std::vector<result>;

using puzzles = std::vector<digits>;

}  // namespace apps::sudoku
