// A problem laid out for the search. Nothing here changes while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "problem.hpp"

namespace apps::pentomino {

// A problem that is well stated, but cannot be solved or does not fit in here.
struct problem_error : std::runtime_error {
  std::string expected, got;
  problem_error(std::string what_expected, std::string what_got)
      : std::runtime_error("expected " + what_expected + ", got " + what_got),
        expected(std::move(what_expected)),
        got(std::move(what_got)) {}
};

// Where the other cells of a piece lie, as seen from the one that comes first on the board.
// The array is filled up with 0, the first cell itself, to whole groups of four.
struct alignas(64) orientation {
  std::array<std::int16_t, 16> others{};
  std::uint8_t kind;  // the kind of the piece
};

// The board is one row of cells after another with a wall after each row, so that a piece that
// leaves it always meets a wall.
struct puzzle {
  static constexpr int max_cells = 1024;  // the most cells of the board with its walls
  static constexpr int max_kinds = 64;
  static constexpr int max_piece = static_cast<int>(orientation().others.size()) + 1;  // cells
  static constexpr int max_placed = 254;

  int stride = 0;
  int margin = 0;  // walls before the first cell, for pieces that reach back from it
  int start = 0;
  int end = 0;              // an empty cell after everything
  int others = 0;           // cells of a piece besides its first, in whole groups of four
  bool tiny = false;        // there are pieces of fewer than three cells
  int images = 1;           // ways to turn the region onto itself, the identity included
  bool restricted = false;  // only one of a solution and its images is looked for: see restrict()

  std::vector<int> region;  // its cells in the order of the search
  std::vector<orientation> orientations;
  // Where each kind's orientations begin, and the end of the last one.
  std::vector<int> first_orientation;
  std::vector<int> count;  // how many pieces there are of each kind
  // The region's images under each symmetry but the identity.
  std::vector<std::vector<int>> symmetries;

  std::span<const orientation> orientations_of(int kind) const {
    return {orientations.data() + first_orientation[kind],
            orientations.data() + first_orientation[kind + 1]};
  }

  auto fields() {
    return std::tie(stride, margin, start, end, others, tiny, images, restricted, region,
                    orientations, first_orientation, count, symmetries);
  }

  puzzle() = default;
  explicit puzzle(const problem& p) {
    // Filling along the shorter side leaves a shorter border: 14 times faster for 6 x 10.
    shape cells = normalized(p.region);
    constexpr int quarter = 3;
    static_assert(!turns_over(quarter));
    if (extent(cells).column > extent(cells).row) cells = turned(cells, quarter);
    check(p, cells);

    stride = extent(cells).column + 1;
    end = margin + (extent(cells).row + 1) * stride;
    for (cell c : cells) region.push_back(at(c));
    start = region.front();

    std::vector<int> group;
    for (int way = 0; way < ways; way++) {
      if ((p.one_sided && turns_over(way)) || turned(cells, way) != cells) continue;
      group.push_back(way);
      if (way == 0) continue;
      auto& image = symmetries.emplace_back();
      for (cell c : cells) image.push_back(at(turned(c, extent(cells), way)));
    }
    images = static_cast<int>(group.size());

    bool all_are_used = area(p.pieces) == static_cast<int>(cells.size());
    for (const piece& each : p.pieces) {
      auto shapes = all_orientations(each, p.one_sided);
      if (!restricted && all_are_used && images > 1 && each.count == 1)
        restricted = restrict(shapes, group);
      first_orientation.push_back(static_cast<int>(orientations.size()));
      const auto kind = static_cast<std::uint8_t>(count.size());
      count.push_back(std::min(each.count, max_placed));
      for (const shape& s : shapes) orientations.push_back({offsets(s), kind});
    }
    first_orientation.push_back(static_cast<int>(orientations.size()));
  }

private:
  int at(cell c) const { return margin + c.row * stride + c.column; }

  static int area(const std::vector<piece>& pieces) {
    int sum = 0;
    for (const piece& each : pieces) sum += static_cast<int>(each.cells.size()) * each.count;
    return sum;
  }

  void check(const problem& p, const shape& cells) {
    auto require = [](bool holds, std::string expected, std::size_t got) {
      if (!holds) throw problem_error(std::move(expected), std::to_string(got));
    };
    std::size_t smallest = cells.size(), largest = 0;
    for (const piece& each : p.pieces) {
      smallest = std::min(smallest, each.cells.size());
      largest = std::max(largest, each.cells.size());
    }
    std::size_t covered = area(p.pieces), size = cells.size();
    require(size > 0, "a region of at least one cell", size);
    require(covered >= size, "pieces that cover " + std::to_string(size) + " cells", covered);
    require(largest <= max_piece, "pieces of at most 17 cells", largest);
    require(p.pieces.size() <= max_kinds, "at most 64 kinds of pieces", p.pieces.size());
    require(size / smallest <= max_placed, "room for at most 254 pieces", size / smallest);
    // A piece tried on the last cell looks as many rows beyond it as it has cells.
    std::size_t used = largest + (extent(cells).row + 2 + largest) * (extent(cells).column + 1);
    require(used <= max_cells, "a board and its border of at most 1024 cells", used);
    others = std::max(4, static_cast<int>((largest + 2) / 4 * 4));
    margin = static_cast<int>(largest);
    tiny = smallest < 3;
  }

  static std::vector<shape> all_orientations(const piece& each, bool one_sided) {
    std::vector<shape> shapes;
    for (int way = 0; way < ways; way++) {
      if (one_sided && turns_over(way)) continue;
      shape s = turned(each.cells, way);
      if (std::find(shapes.begin(), shapes.end(), s) == shapes.end()) shapes.push_back(s);
    }
    return shapes;
  }

  // When one piece, which is used in every solution, looks different under each symmetry of the
  // region, then so does every solution. Of the images just one is found if that piece keeps
  // one orientation of those that are images of each other.
  static bool restrict(std::vector<shape>& shapes, const std::vector<int>& group) {
    std::vector<shape> kept, dropped;
    for (const shape& s : shapes) {
      if (std::find(dropped.begin(), dropped.end(), s) != dropped.end()) continue;
      kept.push_back(s);
      for (int way : group) {
        if (way == 0) continue;
        if (turned(s, way) == s) return false;
        dropped.push_back(turned(s, way));
      }
    }
    shapes = kept;
    return true;
  }

  std::array<std::int16_t, 16> offsets(const shape& cells) const {
    std::array<std::int16_t, 16> o{};
    for (std::size_t i = 1; i < cells.size(); i++)
      o[i - 1] = static_cast<std::int16_t>(at(cells[i]) - at(cells[0]));
    return o;
  }
};

}  // namespace apps::pentomino
