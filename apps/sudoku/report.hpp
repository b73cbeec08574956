// The answer in words, and its check.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../common/answer.hpp"
#include "result.hpp"

namespace apps::sudoku {

inline std::string text_of(const digits& d) {
  std::string text;
  for (const std::uint8_t each : d) text += static_cast<char>('0' + each);
  return text;
}

// Whether each row, column and box of `s` has all digits, and `s` has what is given.
inline bool is_solution(const digits& given, const digits& s) {
  std::vector<unsigned> seen(std::size_t{3} * side);
  for (std::size_t i = 0; i < cells; i++) {
    const std::size_t row = i / side, column = i % side;
    if (s[i] < 1 || s[i] > side || (given[i] != 0 && given[i] != s[i])) return false;
    for (const std::size_t unit :
         {row, side + column, std::size_t{2} * side + row / 3 * 3 + column / 3})
      seen[unit] |= 1u << s[i];
  }
  for (const unsigned all : seen)
    if (all != 0b1111111110) return false;
  return true;
}

inline answer report(const puzzles& given, question asked, const results& found) {
  std::vector<std::string> words;
  std::vector<std::int64_t> counts;
  std::string wrong;
  for (std::size_t i = 0; i < found.size(); i++) {
    const result& r = found[i];
    counts.push_back(static_cast<std::int64_t>(r.solutions));
    if (r.solutions == 0) words.emplace_back("no solution");
    else if (asked == question::first) words.push_back(text_of(r.first));
    else words.emplace_back(r.solutions == 1 ? "unique" : "several solutions");
    if (asked == question::first && r.solutions != 0 && !is_solution(given[i], r.first))
      wrong = "a solution of puzzle " + std::to_string(i + 1);
  }
  answer a;
  for (std::size_t i = 0; i < found.size(); i++) {
    const std::string of_count =
        std::to_string(counts[i]) + (counts[i] == 1 ? " solution" : " solutions");
    if (i > 0) a.text += "\n             ";
    a.text += asked == question::all ? of_count : words[i];
  }
  if (asked == question::all) a.main = counts;
  else a.main = words;
  a.wrong = wrong;
  return a;
}

}  // namespace apps::sudoku
