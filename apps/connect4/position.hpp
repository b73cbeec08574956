// A position of Connect Four as two words of 64 bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>

namespace apps::connect4 {

constexpr int columns = 7, rows = 6, squares = columns * rows;

// A square is a bit: a column has seven, from the lowest row up, and the seventh is always empty,
// so that no line of four goes on in the next column.
using bits = std::uint64_t;
constexpr int stride = rows + 1;
constexpr bits column_of(int column) { return bits{(1 << rows) - 1} << (column * stride); }
constexpr bits in_each_column(bits rows_of_one) {
  bits all = 0;
  for (int column = 0; column < columns; column++) all |= rows_of_one << (column * stride);
  return all;
}
constexpr bits bottom = in_each_column(1), board = in_each_column((1 << rows) - 1);

// The empty squares that complete four in a row for the player of `stones`.
inline bits completing(bits stones, bits all) {
  bits found = (stones << 1) & (stones << 2) & (stones << 3);  // the fourth on top of three
  // A row and both diagonals: how far the next square of the line is. Besides the two that lie
  // together one more lies behind them, or before the empty square.
  for (int step : {stride - 1, stride, stride + 1}) {
    const bits above = (stones << step) & (stones << 2 * step);
    const bits below = (stones >> step) & (stones >> 2 * step);
    found |= above & ((stones << 3 * step) | (stones >> step));
    found |= below & ((stones >> 3 * step) | (stones << step));
  }
  return found & board & ~all;
}

struct position {
  bits own = 0;  // the stones of the player whose turn it is
  bits all = 0;  // the stones of both

  bits playable() const { return (all + bottom) & board; }  // at most one square in each column
  bits wins() const { return completing(own, all) & playable(); }
  position after(bits move) const { return {own ^ all, all | move}; }

  // Another number for each position: above a column's stones its sum has a bit that tells how
  // many they are.
  std::uint64_t key() const { return own + all; }

  // The moves after which the opponent does not win at once.
  bits not_losing() const {
    const bits threats = completing(own ^ all, all);
    bits moves = playable();
    if (const bits forced = moves & threats; forced != 0) {
      if ((forced & (forced - 1)) != 0) return 0;  // two of them cannot both be prevented
      moves = forced;
    }
    return moves & ~(threats >> 1);  // nor is a stone put below a threat
  }

  friend bool operator==(const position&, const position&) = default;
};

// A score is how many stones the winner has left when he wins, that one included; it is negative if
// the opponent wins, and 0 for a draw. `stones` is how many there are of both.
constexpr int win_now(int stones) { return (squares + 1 - stones) / 2; }
constexpr int lose_next(int stones) { return -((squares - stones) / 2); }
// The best and the worst score where neither player wins by his next stone.
constexpr int most(int stones) { return (squares - 1 - stones) / 2; }
constexpr int least(int stones) { return -((squares - 2 - stones) / 2); }
constexpr int worst = -squares;  // is below every score

// What a position that is not searched further is taken for: who threatens to win on more squares.
inline int estimate(const position& p, int stones) {
  const int own = std::popcount(completing(p.own, p.all));
  const int other = std::popcount(completing(p.own ^ p.all, p.all));
  return std::clamp(own - other, least(stones), most(stones));
}

// How many squares complete four in a row for who makes this move.
inline int threats_after(const position& p, bits move) {
  int count = 0;
  for (bits found = completing(p.own | move, p.all | move); found != 0; found &= found - 1) count++;
  return count;
}

// The moves to try: first those that threaten most, and of these the ones in the middle. They are
// columns, in groups of four bits.
class move_list {
public:
  move_list() = default;
  move_list(const position& p, bits moves) {
    std::uint64_t threats = 0;  // of the moves in the list, in groups of four bits as well
    for (const int column : {3, 2, 4, 1, 5, 0, 6}) {
      const bits move = moves & column_of(column);
      if (move == 0) continue;
      const auto more = static_cast<std::uint32_t>(threats_after(p, move));
      int at = 4 * count_++;
      while (at > 0 && (threats >> (at - 4) & 15) < more) at -= 4;
      insert(threats, at, more);
      insert(columns_, at, static_cast<std::uint32_t>(column));
    }
  }
  auto fields() { return std::tie(columns_, count_); }
  int count() const { return count_; }
  int column(int i) const { return static_cast<int>(columns_ >> 4 * i & 15); }
  bits move(const position& p, int i) const { return p.playable() & column_of(column(i)); }

private:
  static void insert(std::uint64_t& list, int at, std::uint64_t what) {
    const std::uint64_t before = (std::uint64_t{1} << at) - 1;
    list = (list & before) | what << at | (list & ~before) << 4;
  }

  std::uint64_t columns_ = 0;
  int count_ = 0;
};

}  // namespace apps::connect4
