// Reads a packing problem from a text file.
#pragma once

#include <istream>
#include <string>

#include "puzzle.hpp"
#include "support/line_reader.hpp"

namespace apps::pentomino {

// The text about board files in --help.
inline constexpr const char* board_format =
    R"(A board file says what to cover, and with which pieces:

    ; 3 x 5 with a hole               from ';' on, a line is a comment
    board                             the rows of the board follow:
    .....                               '.' is a cell to cover,
    ..#..                               '#' is not (short rows end in '#')
    .....
    piece T                           a piece and its name; its rows follow:
    OOO                                 'O' is a cell of the piece,
    .O.                                 '.' is not
    piece I x2                        two pieces of one kind
    OO

A drawing ends at an empty line, the next keyword or the end of the file. Instead of drawing
them, 'pentominoes' stands for the twelve pentominoes. 'one-sided' forbids turning pieces over.
Pieces may be left over; each kind is used at most as often as there are pieces of it. Counted
are all ways to cover the board, and those that remain when rotations and mirror images (with
'one-sided', rotations) of a solution count as the same.
)";

class board_parser {
public:
  board_parser(std::istream& in, const std::string& name) : reader_(in, name) {}

  // Reads the problem. Throws input_error.
  problem parse() {
    while (reader_.next()) {
      std::string text = reader_.text().substr(0, reader_.text().find(';'));
      text.erase(text.find_last_not_of(" \t") + 1);
      if (!text.empty()) read(text);
      else if (rows_ > 0 && reader_.text().empty()) finish();
    }
    finish();
    return std::move(problem_);
  }

private:
  void read(const std::string& text) {
    auto words = split(text);
    auto is = [&](const char* keyword) { return words[0] == keyword; };
    bool keyword = is("board") || is("piece") || is("pentominoes") || is("one-sided");
    if (drawing_ != nullptr && !keyword) return read_row(text);
    finish();
    if (is("board") && words.size() == 1) {
      if (!problem_.region.empty()) reader_.fail("one board", "a second one");
      draw(problem_.region, '.', '#');
    } else if (is("piece") && (words.size() == 2 || words.size() == 3)) {
      piece& added = problem_.pieces.emplace_back();
      added.name = words[1];
      if (words.size() == 3) added.count = count(words[2]);
      draw(added.cells, 'O', '.');
    } else if (is("pentominoes") && words.size() == 1) {
      for (const piece& each : pentominoes()) problem_.pieces.push_back(each);
    } else if (is("one-sided") && words.size() == 1) {
      problem_.one_sided = true;
    } else {
      reader_.fail("'board', 'piece NAME [xCOUNT]', 'pentominoes' or 'one-sided'", in_quotes(text));
    }
  }

  void read_row(const std::string& text) {
    for (std::size_t column = 0; column < text.size(); column++) {
      if (text[column] == filled_) drawing_->push_back({rows_, static_cast<int>(column)});
      else if (text[column] != blank_)
        reader_.fail(std::string("'") + filled_ + "' or '" + blank_ + "' in column " +
                         std::to_string(column + 1),
                     in_quotes(text.substr(column, 1)));
    }
    if (drawing_->size() > puzzle::max_cells)
      reader_.fail("a drawing of at most " + std::to_string(puzzle::max_cells) + " cells", "more");
    rows_++;
  }

  int count(std::string_view word) const {
    if (word[0] != 'x') reader_.fail("a count such as 'x2'", in_quotes(word));
    return reader_.number(word.substr(1), 1, 1000, "a count");
  }

  void draw(shape& onto, char filled, char blank) {
    drawing_ = &onto;
    filled_ = filled;
    blank_ = blank;
    rows_ = 0;
    first_line_ = reader_.line();
  }

  void finish() {
    if (drawing_ == nullptr) return;
    if (drawing_->empty())
      throw input_error(reader_.name(), first_line_,
                        std::string("a drawing with at least one '") + filled_ + "'", "none");
    *drawing_ = normalized(std::move(*drawing_));
    const bool is_piece = drawing_ != &problem_.region;
    if (is_piece && drawing_->size() > puzzle::max_piece)
      throw input_error(reader_.name(), first_line_,
                        "a piece of at most " + std::to_string(puzzle::max_piece) + " cells",
                        std::to_string(drawing_->size()));
    if (is_piece && problem_.pieces.size() > puzzle::max_kinds)
      throw input_error(reader_.name(), first_line_,
                        "at most " + std::to_string(puzzle::max_kinds) + " kinds of pieces",
                        "one more");
    if (is_piece && !connected(*drawing_))
      throw input_error(reader_.name(), first_line_, "a piece whose cells hang together",
                        "one in parts");
    drawing_ = nullptr;
    rows_ = 0;
  }

  line_reader reader_;
  problem problem_;
  shape* drawing_ = nullptr;  // what the rows that come next belong to
  char filled_ = 0, blank_ = 0;
  int rows_ = 0, first_line_ = 0;
};

// Reads the puzzle in a file. Throws input_error.
inline puzzle load(const std::string& file) {
  auto in = open_input(file);
  try {
    return puzzle(board_parser(in, file).parse());
  } catch (const problem_error& e) { throw input_error(file, 0, e.expected, e.got); }
}

}  // namespace apps::pentomino
