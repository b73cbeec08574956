// Reads a position from the columns that were played.
#pragma once

#include <string>
#include <string_view>

#include "position.hpp"
#include "support/command_line.hpp"
#include "support/line_reader.hpp"

namespace apps::connect4 {

// `moves` are columns from 1 to 7, one after the other. Throws usage_error.
inline position parse(std::string_view moves) {
  position p;
  int number = 0;
  for (const char c : moves) {
    number++;
    const auto refuse = [&](const std::string& expected, const std::string& got) {
      throw usage_error(std::string("POSITION: expected ")
                            .append(expected)
                            .append(" as move ")
                            .append(std::to_string(number))
                            .append(", got ")
                            .append(got));
    };
    if (c < '1' || c > '0' + columns) refuse("a column from 1 to 7", in_quotes({&c, 1}));
    const bits move = p.playable() & column_of(c - '1');
    if (move == 0) refuse("a column that is not full", in_quotes({&c, 1}));
    if ((p.wins() & move) != 0) refuse("a move that does not end the game", in_quotes({&c, 1}));
    p = p.after(move);
  }
  if (p.all == board)
    throw usage_error("POSITION: expected at most " + std::to_string(squares - 1) + " moves, got " +
                      std::to_string(number));
  return p;
}

}  // namespace apps::connect4
