// The state of the search: what lies where, and what is still to be placed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "puzzle.hpp"

namespace apps::pentomino {

// A board without what its puzzle tells: how it leaves the process.
struct position {
  std::array<std::uint8_t, puzzle::max_cells> label;
  std::array<std::uint8_t, puzzle::max_kinds> order, left;  // `unused` by its kinds' numbers
  int kinds, placed;
};

struct board {
  using kind = std::span<const orientation>;
  static constexpr std::uint8_t wall = 255;

  std::array<std::uint8_t, puzzle::max_cells> label;  // 0: empty; else the n-th piece placed
  // The orientations of each kind of which pieces are left; after `kinds` of them, the kinds used
  // up.
  std::array<kind, puzzle::max_kinds> unused;
  std::array<std::uint8_t, puzzle::max_kinds> left;  // how many pieces are left of each kind
  int kinds;
  int placed = 0;
  const puzzle* z;
  int others, stride, end;  // copies of the puzzle's: the search asks for them in each step
  bool tiny;

  explicit board(const puzzle& p)
      : kinds(static_cast<int>(p.count.size())),
        z(&p),
        others(p.others),
        stride(p.stride),
        end(p.end),
        tiny(p.tiny) {
    label.fill(wall);
    for (int at : p.region) label[at] = 0;
    label[p.end] = 0;
    left.fill(0);
    for (int i = 0; i < kinds; i++) {
      unused[i] = p.orientations_of(i);
      left[i] = static_cast<std::uint8_t>(p.count[i]);
    }
  }

  board(const puzzle& p, const position& x) : board(p) {
    label = x.label;
    left = x.left;
    for (std::size_t i = 0; i < p.count.size(); i++) unused[i] = p.orientations_of(x.order[i]);
    kinds = x.kinds;
    placed = x.placed;
  }
  position where() const {
    position x{label, {}, left, kinds, placed};
    for (std::size_t i = 0; i < z->count.size(); i++) x.order[i] = unused[i].front().kind;
    return x;
  }

  // The search's cells are pointers into `label`: an index would need a register more.
  std::uint8_t* cell(int index) { return &label[index]; }
  int index(const std::uint8_t* at) const { return static_cast<int>(at - label.data()); }
  bool full(const std::uint8_t* at) const { return at == &label[end]; }

  bool fits(const orientation& o, const std::uint8_t* at) const {
    const std::int16_t* other = o.others.data();
    if (taken(other, at)) return false;
    for (int i = 4; i < others; i += 4)
      if (taken(other + i, at)) return false;
    return true;
  }

  // Places a piece of a kind that is in `unused`, and takes it away again.
  void place(const orientation& o, std::uint8_t* at, kind& k) {
    cover(o, at, static_cast<std::uint8_t>(++placed));
    if (--left[o.kind] == 0) std::swap(k, unused[--kinds]);
  }

  void remove(const orientation& o, std::uint8_t* at, kind& k) {
    cover(o, at, 0);
    placed--;
    if (left[o.kind]++ == 0) std::swap(k, unused[kinds++]);
  }

  static std::uint8_t* next_empty(std::uint8_t* at) {
    while (*at != 0) at++;
    return at;
  }

  // Whether the first empty cell is in a pocket of one or two cells that no piece can fill.
  bool cramped(const std::uint8_t* at) const {
    return !tiny && at[stride] != 0 && (at[1] != 0 || (at[2] != 0 && at[stride + 1] != 0));
  }

  // Whether no image of a full board under the symmetries of the region comes before the board
  // itself: that is true of exactly one of the boards that are images of each other. Pieces are
  // numbered in the order of their first cells, so equal tilings are equal labels. The function is
  // not inline: it is called seldom, and would enlarge the stack frame of each level.
  [[gnu::noinline]] bool canonical() const {
    for (const auto& image : z->symmetries) {
      std::array<std::uint8_t, 256> renamed{};
      std::uint8_t names = 0;
      for (std::size_t i = 0; i < image.size(); i++) {
        std::uint8_t& name = renamed[label[image[i]]];
        if (name == 0) name = ++names;
        if (name > label[z->region[i]]) break;
        if (name < label[z->region[i]]) return false;
      }
    }
    return true;
  }

private:
  // Looks at four cells at a time: a branch for each would be mispredicted.
  static bool taken(const std::int16_t* other, const std::uint8_t* at) {
    return at[other[0]] + at[other[1]] + at[other[2]] + at[other[3]] != 0;
  }
  static void cover_four(const std::int16_t* other, std::uint8_t* at, std::uint8_t value) {
    at[other[0]] = at[other[1]] = at[other[2]] = at[other[3]] = value;
  }

  void cover(const orientation& o, std::uint8_t* at, std::uint8_t value) {
    *at = value;
    const std::int16_t* other = o.others.data();
    cover_four(other, at, value);
    for (int i = 4; i < others; i += 4) cover_four(other + i, at, value);
  }
};

}  // namespace apps::pentomino
