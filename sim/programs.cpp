#include "sim/programs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "pentomino/board.hpp"
#include "pentomino/parse.hpp"

namespace sim {
namespace {

/// Appends the nodes of a tree in their order. Between open() and close() come a node's children.
class builder {
public:
  void open() {
    path_.push_back({t_.size.size()});
    t_.size.push_back(1);
  }
  void close() {
    const level done = path_.back();
    path_.pop_back();
    t_.size[done.self] = static_cast<std::uint32_t>(t_.size.size() - done.self);
    const unsigned repeats = done.repeats + static_cast<unsigned>(std::bit_width(done.children));
    if (path_.empty()) {
      t_.height = done.height + 1, t_.repeats = repeats;
    } else {
      level& up = path_.back();
      up.height = std::max(up.height, done.height + 1);
      up.repeats = std::max(up.repeats, repeats);
      ++up.children;
    }
  }
  /// A piece of work that is put together, of that many nodes, at least one.
  void piece(std::uint64_t nodes) {
    open();
    for (; nodes > 1; --nodes) open(), close();
    close();
  }
  tree take() { return std::move(t_); }

private:
  struct level {
    std::size_t self;
    std::uint32_t children = 0;
    unsigned height = 0, repeats = 0;  // of the children
  };
  tree t_;
  std::vector<level> path_;
};

/// Work as a number of nodes, so that all of it is about `wanted` of them.
class scale_of {
public:
  scale_of(std::uint64_t all, std::uint64_t wanted)
      : each_(std::max<std::uint64_t>(1, all / wanted)) {}
  std::uint64_t operator()(std::uint64_t work) const { return (work + each_ / 2) / each_; }

private:
  std::uint64_t each_;
};

constexpr std::uint64_t wanted_nodes = 80'000'000;

void grow_fib(builder& b, unsigned n, unsigned cut) {
  // Two pieces of 5 and 8 nodes are as fib(cut) and fib(cut + 1), whose ratio is the golden one.
  if (n <= cut + 1) return b.piece(n == cut ? 5 : 8);
  b.open();
  grow_fib(b, n - 1, cut);
  grow_fib(b, n - 2, cut);
  b.close();
}

/// A board of queens: bits say which columns and diagonals are taken.
struct queens {
  std::uint32_t all, columns = 0, left = 0, right = 0;
  std::uint32_t open() const { return all & ~(columns | left | right); }
  queens with(std::uint32_t queen) const {
    return {all, columns | queen, (left | queen) << 1, (right | queen) >> 1};
  }
};

std::uint64_t boards_below(const queens& q) {
  std::uint64_t n = 1;
  for (std::uint32_t open = q.open(); open != 0; open &= open - 1)
    n += boards_below(q.with(open & -open));
  return n;
}

/// What a search comes to at the depth where its tree is cut: the boards below each, in order.
void weigh_queens(const queens& q, unsigned depth, std::vector<std::uint64_t>& weights) {
  if (depth == 0) return weights.push_back(boards_below(q));
  for (std::uint32_t open = q.open(); open != 0; open &= open - 1)
    weigh_queens(q.with(open & -open), depth - 1, weights);
}

void grow_queens(builder& b, const queens& q, unsigned depth, const scale_of& nodes,
                 const std::uint64_t*& weight) {
  if (depth == 0) return b.piece(nodes(*weight++));
  b.open();
  for (std::uint32_t open = q.open(); open != 0; open &= open - 1)
    grow_queens(b, q.with(open & -open), depth - 1, nodes, weight);
  b.close();
}

/// Calls visit(next cell) for each way to place a piece on that cell, with the piece placed.
template <class Visit>
void each_placement(apps::pentomino::board& board, std::uint8_t* at, const Visit& visit) {
  for (int i = 0; i < board.kinds; ++i) {
    auto& kind = board.unused[static_cast<std::size_t>(i)];
    for (const auto& o : kind) {
      if (!board.fits(o, at)) continue;
      board.place(o, at, kind);
      visit(board.next_empty(at));
      board.remove(o, at, kind);
    }
  }
}

std::uint64_t placements_below(apps::pentomino::board& board, std::uint8_t* at) {
  std::uint64_t n = 1;
  if (board.full(at) || board.cramped(at)) return n;
  each_placement(board, at, [&](std::uint8_t* next) { n += placements_below(board, next); });
  return n;
}

/// Estimates how many placements a search comes to by random descents: one that had the choice of
/// a, b, c, … placements stands for 1 + a + ab + abc + … of them, so their mean is right. (Knuth,
/// "Estimating the efficiency of backtrack programs", 1975.)
class estimated_placements {
public:
  explicit estimated_placements(unsigned descents) : descents_(descents) {}

  std::uint64_t operator()(apps::pentomino::board& board, std::uint8_t* at) {
    double sum = 0;
    for (unsigned k = 0; k < descents_; ++k) sum += descend(board, at);
    return static_cast<std::uint64_t>(std::llround(sum / descents_));
  }

private:
  double descend(apps::pentomino::board& board, std::uint8_t* at) {
    if (board.full(at) || board.cramped(at)) return 1;
    std::uint64_t choices = 0, k = 0;
    each_placement(board, at, [&](std::uint8_t*) { ++choices; });
    if (choices == 0) return 1;
    const std::uint64_t chosen = random_() % choices;
    double below = 0;
    each_placement(board, at, [&](std::uint8_t* next) {
      if (k++ == chosen) below = descend(board, next);
    });
    return 1 + static_cast<double>(choices) * below;
  }

  const unsigned descents_;
  std::mt19937_64 random_{1};
};

/// What `below(board, cell)` says of each board at the depth where the tree is cut, in order.
template <class Below>
void weigh_pentomino(apps::pentomino::board& board, std::uint8_t* at, unsigned depth, Below& below,
                     std::vector<std::uint64_t>& weights) {
  if (depth == 0 || board.full(at) || board.cramped(at)) return weights.push_back(below(board, at));
  each_placement(board, at, [&](std::uint8_t* next) {
    weigh_pentomino(board, next, depth - 1, below, weights);
  });
}

void grow_pentomino(builder& b, apps::pentomino::board& board, std::uint8_t* at, unsigned depth,
                    const scale_of& nodes, const std::uint64_t*& weight) {
  if (depth == 0 || board.full(at) || board.cramped(at)) return b.piece(nodes(*weight++));
  b.open();
  each_placement(board, at, [&](std::uint8_t* next) {
    grow_pentomino(b, board, next, depth - 1, nodes, weight);
  });
  b.close();
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& weights) {
  std::uint64_t sum = 0;
  for (const std::uint64_t w : weights) sum += w;
  return sum;
}

}  // namespace

tree fib_tree(unsigned n) {
  builder b;
  grow_fib(b, n, std::max(n, 36U) - 35);
  return b.take();
}

tree queens_tree(unsigned n) {
  const queens none{(1U << n) - 1};
  const unsigned depth = n > 14 ? n - 11 : n;  // rows whose boards are nodes
  std::vector<std::uint64_t> weights;
  weigh_queens(none, depth, weights);
  builder b;
  const std::uint64_t* weight = weights.data();
  grow_queens(b, none, depth, scale_of(sum_of(weights), wanted_nodes), weight);
  return b.take();
}

tree pentomino_tree(const std::string& file, unsigned descents) {
  const apps::pentomino::puzzle puzzle = apps::pentomino::load(file);
  apps::pentomino::board board(puzzle);
  std::uint8_t* const start = board.cell(puzzle.start);
  constexpr unsigned depth = 5;
  std::vector<std::uint64_t> weights;
  estimated_placements estimated(descents);
  if (descents == 0) weigh_pentomino(board, start, depth, placements_below, weights);
  else weigh_pentomino(board, start, depth, estimated, weights);
  builder b;
  const std::uint64_t* weight = weights.data();
  grow_pentomino(b, board, start, depth, scale_of(sum_of(weights), wanted_nodes), weight);
  return b.take();
}

namespace {

void halve(builder& b, unsigned rows, unsigned columns, unsigned times) {
  if (times == 0 || std::max(rows, columns) < 2) return b.piece(1);
  b.open();
  const unsigned longer = std::max(rows, columns), other = std::min(rows, columns);
  halve(b, longer / 2, other, times - 1);
  halve(b, longer - longer / 2, other, times - 1);
  b.close();
}

}  // namespace

tree compare_tree(unsigned n) {
  builder b;
  halve(b, n, n, 22);
  return b.take();
}

std::size_t compare_bytes(unsigned n) { return std::size_t{2} * n * sizeof(std::int32_t); }

tree grav_tree(unsigned n) {
  builder b;
  b.open();
  for (unsigned plane = 0; plane < 2 * n + 1; ++plane) b.piece(2 * n + 2);
  b.close();
  return b.take();
}

}  // namespace sim
