// A packing problem as a person states it: a region of cells, and pieces to cover it with.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace apps::pentomino {

struct cell {
  int row, column;
  friend auto operator<=>(const cell&, const cell&) = default;
};

// The cells of a shape are kept in order, with the first row and column at 0.
using shape = std::vector<cell>;

struct piece {
  std::string name;
  shape cells;
  int count = 1;  // how many there are
};

struct problem {
  shape region;
  std::vector<piece> pieces;
  bool one_sided = false;  // pieces may be turned but not turned over
};

inline cell extent(const shape& cells) {
  cell most{0, 0};
  for (cell c : cells) most = {std::max(most.row, c.row + 1), std::max(most.column, c.column + 1)};
  return most;
}

inline shape normalized(shape cells) {
  if (cells.empty()) return cells;
  int top = cells[0].row, left = cells[0].column;
  for (cell c : cells) top = std::min(top, c.row), left = std::min(left, c.column);
  for (cell& c : cells) c = {c.row - top, c.column - left};
  std::sort(cells.begin(), cells.end());
  return cells;
}

// Do neighbouring cells join all of them?
inline bool connected(const shape& cells) {
  shape reached(cells.begin(), cells.begin() + 1);
  for (std::size_t i = 0; i < reached.size(); i++)
    for (cell step : {cell{0, 1}, cell{1, 0}, cell{0, -1}, cell{-1, 0}}) {
      cell next{reached[i].row + step.row, reached[i].column + step.column};
      if (std::binary_search(cells.begin(), cells.end(), next) &&
          std::find(reached.begin(), reached.end(), next) == reached.end())
        reached.push_back(next);
    }
  return reached.size() == cells.size();
}

// The eight ways to turn a shape and turn it over; way 0 leaves it as it is.
constexpr int ways = 8;

// Where a cell of a shape of this extent goes when the shape is turned.
inline cell turned(cell c, cell size, int way) {
  if (way & 1) c = {c.column, c.row}, size = {size.column, size.row};
  if (way & 2) c.row = size.row - 1 - c.row;
  if (way & 4) c.column = size.column - 1 - c.column;
  return c;
}

inline shape turned(const shape& cells, int way) {
  shape result;
  for (cell c : cells) result.push_back(turned(c, extent(cells), way));
  return normalized(std::move(result));
}

// Mirror images are the ways that make an odd number of exchanges.
constexpr bool turns_over(int way) { return ((way ^ way >> 1 ^ way >> 2) & 1) != 0; }

inline std::vector<piece> pentominoes() {
  return {
      {"F", {{0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 1}}},
      {"I", {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}},
      {"L", {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}}},
      {"N", {{0, 1}, {1, 1}, {2, 0}, {2, 1}, {3, 0}}},
      {"P", {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}}},
      {"T", {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {2, 1}}},
      {"U", {{0, 0}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}},
      {"V", {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}},
      {"W", {{0, 0}, {1, 0}, {1, 1}, {2, 1}, {2, 2}}},
      {"X", {{0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 1}}},
      {"Y", {{0, 1}, {1, 0}, {1, 1}, {2, 1}, {3, 1}}},
      {"Z", {{0, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 2}}},
  };
}

// The default: 6 x 10, which has 2,339 solutions besides their mirror images and rotations.
inline problem rectangle(int rows, int columns) {
  problem p;
  for (int row = 0; row < rows; row++)
    for (int column = 0; column < columns; column++) p.region.push_back({row, column});
  p.pieces = pentominoes();
  return p;
}

}  // namespace apps::pentomino
