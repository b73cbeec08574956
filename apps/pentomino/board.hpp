// The state of the search: what lies where, and what is still to be placed.
#pragma once

#include <array>
#include <cstdint>

#include "puzzle.hpp"

namespace apps::pentomino {

struct board {
  static constexpr std::uint8_t wall = 255;

  std::array<std::uint8_t, puzzle::max_cells> label;   // 0: empty; else the n-th piece placed
  std::array<std::uint8_t, puzzle::max_kinds> unused;  // kinds of which pieces are left
  std::array<std::uint8_t, puzzle::max_kinds> left;    // how many, by kind
  int kinds;                                           // in `unused`
  int placed = 0;

  explicit board(const puzzle& z) : kinds(static_cast<int>(z.count.size())) {
    label.fill(wall);
    for (int at : z.region) label[at] = 0;
    label[z.end] = 0;
    unused.fill(0);
    left.fill(0);
    for (int kind = 0; kind < kinds; kind++) {
      unused[kind] = static_cast<std::uint8_t>(kind);
      left[kind] = static_cast<std::uint8_t>(z.count[kind]);
    }
  }

  // Four cells at a time: a branch for each would be mispredicted.
  bool fits(const puzzle& z, const orientation& o, int at) const {
    int taken = 0;
    for (int i = 0; i < z.others; i += 4)
      taken +=
          label[at + o[i]] + label[at + o[i + 1]] + label[at + o[i + 2]] + label[at + o[i + 3]];
    return taken == 0;
  }

  // Places a piece of the i-th kind of those that are unused.
  void place(const puzzle& z, const orientation& o, int at, int i) {
    cover(z, o, at, static_cast<std::uint8_t>(++placed));
    if (--left[unused[i]] == 0) unused[i] = unused[--kinds];
  }

  void remove(const puzzle& z, const orientation& o, int at, int i, int kind) {
    cover(z, o, at, 0);
    placed--;
    if (left[kind]++ == 0) {
      unused[i] = static_cast<std::uint8_t>(kind);
      kinds++;
    }
  }

  int next_empty(int at) const {
    while (label[at] != 0) at++;
    return at;
  }

  // The first empty cell is in a pocket of one or two cells that no piece can fill.
  bool cramped(const puzzle& z, int at) const {
    return !z.tiny && label[at + z.stride] != 0 &&
           (label[at + 1] != 0 || (label[at + 2] != 0 && label[at + z.stride + 1] != 0));
  }

  // No image of a full board under the symmetries of the region comes before the board itself:
  // true of exactly one of the boards that are images of each other. Pieces are numbered in the
  // order of their first cells, so equal tilings are equal labels.
  bool canonical(const puzzle& z) const {
    for (const auto& image : z.symmetries) {
      std::array<std::uint8_t, 256> renamed{};
      std::uint8_t names = 0;
      for (std::size_t i = 0; i < image.size(); i++) {
        std::uint8_t& name = renamed[label[image[i]]];
        if (name == 0) name = ++names;
        if (name > label[z.region[i]]) break;
        if (name < label[z.region[i]]) return false;
      }
    }
    return true;
  }

private:
  void cover(const puzzle& z, const orientation& o, int at, std::uint8_t value) {
    label[at] = value;
    for (int i = 0; i < z.others; i += 4)
      label[at + o[i]] = label[at + o[i + 1]] = label[at + o[i + 2]] = label[at + o[i + 3]] = value;
  }
};

}  // namespace apps::pentomino
