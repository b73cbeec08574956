// Reads puzzles from a text file.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <utility>

#include "result.hpp"
#include "support/line_reader.hpp"

namespace apps::sudoku {

// The text about puzzle files in --help.
inline constexpr const char* puzzle_format =
    R"(A line of a file is a puzzle of 81 characters, row after row, or one of the nine rows of a
grid, of 9 characters. '1' to '9' are digits that are given, '0' and '.' are empty cells.
Empty lines and lines that begin with '#' are left out.
)";

class puzzle_parser {
public:
  puzzle_parser(std::istream& in, const std::string& name) : reader_(in, name) {}

  // Reads all puzzles. Throws input_error.
  puzzles parse() {
    puzzles all;
    while (reader_.next()) {
      const std::string& text = reader_.text();
      if (text.empty() || text[0] == '#') continue;
      if (row_ == 0 && text.size() == cells) {
        read(text, 0);
        all.push_back(now_);
      } else if (text.size() == side) {
        read(text, side * row_);
        row_ = (row_ + 1) % side;
        if (row_ == 0) all.push_back(now_);
      } else {
        reader_.fail(row_ == 0 ? "81 characters, or 9 as a row of a grid"
                               : "9 characters, as row " + std::to_string(row_ + 1) + " of a grid",
                     std::to_string(text.size()));
      }
    }
    if (row_ != 0) at_the_end("9 rows of a grid", std::to_string(row_));
    if (all.empty()) at_the_end("a puzzle", "none");
    return all;
  }

private:
  void read(const std::string& text, int from) {
    for (std::size_t i = 0; i < text.size(); i++) {
      const char c = text[i] == '.' ? '0' : text[i];
      if (c < '0' || c > '9')
        reader_.fail("a digit or '.' as character " + std::to_string(i + 1),
                     in_quotes(text.substr(i, 1)));
      now_[static_cast<std::size_t>(from) + i] = static_cast<std::uint8_t>(c - '0');
    }
  }
  [[noreturn]] void at_the_end(const std::string& expected, const std::string& got) const {
    throw input_error(reader_.name(), reader_.line(), expected, got + " at the end of the file");
  }

  line_reader reader_;
  digits now_{};
  int row_ = 0;  // how many rows of a grid are in `now_`
};

// Reads the puzzles in a file. Throws input_error.
inline puzzles load(const std::string& file) {
  auto in = open_input(file);
  return puzzle_parser(in, file).parse();
}

}  // namespace apps::sudoku
