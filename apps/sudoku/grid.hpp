// Sudoku as an exact cover: in each cell there is one digit, and in each row, column and box each
// digit is in one cell. What can still be there is kept as sets of cells, one for each digit.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <tuple>

namespace apps::sudoku {

constexpr int side = 9, cells = side * side;

// The digits from 1 to 9 in the cells, row after row; 0: empty.
using digits = std::array<std::uint8_t, cells>;

// A set of cells. A row has ten bits, of which the tenth is always 0 (so that a subtraction in one
// row does not reach the next); `low` has the first six rows, `high` the last three.
struct cell_set {
  std::uint64_t low, high;

  static constexpr cell_set of(int cell) {
    const int row = cell / side, column = cell % side;
    return row < 6 ? cell_set{std::uint64_t{1} << (10 * row + column), 0}
                   : cell_set{0, std::uint64_t{1} << (10 * (row - 6) + column)};
  }
  constexpr bool empty() const { return (low | high) == 0; }
  constexpr bool contains(int cell) const { return !(*this & of(cell)).empty(); }
  constexpr int first() const {  // of a set that is not empty
    const int bit = low != 0 ? std::countr_zero(low) : std::countr_zero(high);
    return bit / 10 * side + bit % 10 + (low != 0 ? 0 : 6 * side);
  }
  constexpr cell_set without_first() const {
    return low != 0 ? cell_set{low & (low - 1), high} : cell_set{0, high & (high - 1)};
  }

  friend constexpr cell_set operator&(cell_set a, cell_set b) {
    return {a.low & b.low, a.high & b.high};
  }
  friend constexpr cell_set operator|(cell_set a, cell_set b) {
    return {a.low | b.low, a.high | b.high};
  }
  friend constexpr cell_set operator-(cell_set a, cell_set b) {
    return {a.low & ~b.low, a.high & ~b.high};
  }
  friend constexpr bool operator==(cell_set, cell_set) = default;
};

namespace detail {

constexpr std::uint64_t in_rows(std::uint64_t row, int count) {
  std::uint64_t all = 0;
  for (int i = 0; i < count; i++) all |= row << 10 * i;
  return all;
}
constexpr cell_set all_rows(std::uint64_t row) { return {in_rows(row, 6), in_rows(row, 3)}; }
constexpr cell_set all_cells = all_rows(511);

// The other cells of a cell's row, column and box.
constexpr std::array<cell_set, cells> make_peers() {
  std::array<cell_set, cells> peers{};
  for (int a = 0; a < cells; a++)
    for (int b = 0; b < cells; b++) {
      const int row = a / side, column = a % side, r = b / side, c = b % side;
      if (a != b && (row == r || column == c || (row / 3 == r / 3 && column / 3 == c / 3)))
        peers[std::size_t(a)] = peers[std::size_t(a)] | cell_set::of(b);
    }
  return peers;
}
inline constexpr std::array<cell_set, cells> peers = make_peers();

// How many of several sets have a cell: any of them, and more than one.
struct any_and_more {
  std::uint64_t any, more;
  constexpr any_and_more(std::uint64_t a, std::uint64_t b, std::uint64_t c)
      : any(a | b | c), more((a & b) | ((a | b) & c)) {}
};

// The cells of `x` that are alone in it in their row, column or box. False if a row, a column or a
// box has none of x.
inline bool alone(cell_set x, cell_set& found) {
  // Rows: what a row minus 1 leaves is 0 in the tenth bit only where the row is empty, and together
  // with the row it is the row without its first cell.
  constexpr cell_set ones = all_rows(1), tenth = all_rows(512);
  const auto minus_one = [&](cell_set s) {
    return cell_set{(s.low | tenth.low) - ones.low, (s.high | tenth.high) - ones.high};
  };
  const cell_set less = minus_one(x);
  const cell_set single = tenth - minus_one(x & less);
  const cell_set rows{single.low - (single.low >> 9), single.high - (single.high >> 9)};

  // Columns: the three bands of rows on top of each other, then the three rows of that.
  constexpr std::uint64_t band = (1 << 30) - 1, row = 511;
  const any_and_more bands(x.low & band, x.low >> 30, x.high);
  const any_and_more in_column(bands.any & row, bands.any >> 10 & row, bands.any >> 20);
  const std::uint64_t more = bands.more | bands.more >> 10 | bands.more >> 20;
  const std::uint64_t single_column = in_column.any & ~(in_column.more | more);
  const cell_set columns{single_column * ones.low, single_column * ones.high};

  // Boxes: the three cells of a box's row on its first one, then the three rows.
  constexpr std::uint64_t firsts = 0b001001001, of_low = firsts | firsts << 30;
  const auto boxes = [](std::uint64_t s, std::uint64_t corners, std::uint64_t& missing) {
    const std::uint64_t in_all = corners * (1 | 1 << 10 | 1 << 20);
    const any_and_more line(s & in_all, s >> 1 & in_all, s >> 2 & in_all);
    const any_and_more box(line.any & corners, line.any >> 10 & corners, line.any >> 20 & corners);
    missing |= corners & ~box.any;
    const std::uint64_t lines = line.more | line.more >> 10 | line.more >> 20;
    return (box.any & ~(box.more | lines)) * 7 * (1 | 1 << 10 | 1 << 20);
  };
  std::uint64_t missing = row & ~in_column.any;
  const cell_set in_boxes{boxes(x.low, of_low, missing), boxes(x.high, firsts, missing)};

  found = x & (rows | columns | in_boxes);
  return (tenth - less).empty() && missing == 0;
}

}  // namespace detail

// What is known of a puzzle's solution.
class grid {
public:
  // A choice of one of several digits for a cell; the digits are in groups of four bits.
  struct choice {
    int cell = 0, count = 0;
    std::uint64_t list = 0;
    int digit(int i) const { return static_cast<int>(list >> 4 * i & 15); }
    friend bool operator==(const choice&, const choice&) = default;
  };

  grid() = default;  // uninitialised
  explicit grid(const digits& given) {
    possible_.fill(detail::all_cells);
    placed_ = {0, 0};
    for (int i = 0; i < cells; i++)
      if (given[std::size_t(i)] != 0) place(i, given[std::size_t(i)] - 1);
    close();
  }
  auto fields() { return std::tie(possible_, placed_, dead_); }

  bool dead() const { return dead_; }  // it has no solution
  bool solved() const { return !dead_ && placed_ == detail::all_cells; }

  // Puts a digit from 0 to 8 into an empty cell, and all that follows from that at once.
  void set(int cell, int digit) {
    place(cell, digit);
    close();
  }

  // An empty cell with as few digits as possible. For a grid that is neither solved nor dead.
  choice next() const {
    cell_set one{0, 0}, two = one, three = one, four = one;
    for (const cell_set& d : possible_) {
      four = four | (three & d);
      three = three | (two & d);
      two = two | (one & d);
      one = one | d;
    }
    cell_set best = two - three;
    if (best.empty()) best = three - four;
    if (best.empty()) best = detail::all_cells - placed_;
    choice c;
    c.cell = best.first();
    for (int d = 0; d < side; d++)
      if (possible_[std::size_t(d)].contains(c.cell))
        c.list |= static_cast<std::uint64_t>(d) << 4 * c.count++;
    return c;
  }

  // The digits of a solved grid.
  digits solution() const {
    digits all{};
    for (int d = 0; d < side; d++)
      for (int cell = 0; cell < cells; cell++)
        if (possible_[std::size_t(d)].contains(cell))
          all[std::size_t(cell)] = static_cast<std::uint8_t>(d + 1);
    return all;
  }

private:
  void place(int cell, int digit) {
    const cell_set here = cell_set::of(cell);
    cell_set& of_digit = possible_[std::size_t(digit)];
    const cell_set kept = (of_digit & here);
    const cell_set others = of_digit - detail::peers[std::size_t(cell)];
    for (cell_set& d : possible_) d = d - here;
    of_digit = (others - here) | kept;
    placed_ = placed_ | here;
  }

  // Places what is forced, until nothing is: cells with one digit left, and digits with one cell
  // left in a row, column or box. Where there is none left, the grid is dead.
  void close() {
    dead_ = false;
    for (;;) {
      cell_set one{0, 0}, two = one;
      for (const cell_set& d : possible_) {
        two = two | (one & d);
        one = one | d;
      }
      if (one != detail::all_cells) return die();
      const cell_set single = (one - two) - placed_;
      if (!single.empty()) {
        for (int d = 0; d < side; d++) place_all(possible_[std::size_t(d)] & single, d);
        continue;
      }
      if (solved()) return;
      bool placed = false;
      for (int d = 0; d < side; d++) {
        cell_set found;
        if (!detail::alone(possible_[std::size_t(d)], found)) return die();
        found = found - placed_;
        if (found.empty()) continue;
        place_all(found, d);
        placed = true;
      }
      if (!placed) return;
    }
  }
  // A cell that another one excludes meanwhile has no digit left: that is found later.
  void place_all(cell_set where, int digit) {
    for (; !where.empty(); where = where.without_first()) place(where.first(), digit);
  }
  void die() { dead_ = true; }

  std::array<cell_set, side> possible_;  // where each digit may be
  cell_set placed_;                      // the cells that have one digit, which their peers lack
  bool dead_;
};

}  // namespace apps::sudoku
