// Alpha-beta (D. Knuth and R. Moore, 1975): Maxit, a game on a board of numbers. Two players take
// numbers in turn, one of a row, the other one of the column that this leads to. A number counts
// once. A loop with a running state that ends early: `reduce_until`.
#include <array>
#include <cstdint>

#include "example.hpp"

namespace {

constexpr int n = 8, worst = -10'000;
std::array<int, n * n> numbers;

struct position {
  std::uint64_t taken;
  int line;  // the row, or the column, to take from
  bool in_row;
  int cell(int i) const { return in_row ? n * line + i : n * i + line; }
  int gain(int i) const { return (taken >> cell(i) & 1) != 0 ? 0 : numbers[cell(i)]; }
  position after(int i) const { return {taken | std::uint64_t{1} << cell(i), i, !in_row}; }
  int most(int moves) const {  // that the player can gain, by all moves
    int best = worst;
    for (int i = 0; i < n; i++)
      best = std::max(best, gain(i) - (moves > 1 ? after(i).most(moves - 1) : 0));
    return best;
  }
};

// How much more than the other one the player will get who moves now, if it is between alpha and
// beta.
int plain(position p, int moves, int alpha, int beta) {
  if (moves <= 2) return p.most(moves);
  int best = worst;
  for (int i = 0; i < n && best < beta; i++) {
    const int gain = p.gain(i), from = std::max(alpha, best);
    best = std::max(best, gain - plain(p.after(i), moves - 1, gain - beta, gain - from));
  }
  return best;
}

int parallel(position p, int moves, int alpha, int beta) {
  if (moves <= 2) return p.most(moves);
  return cleave::reduce_until(
      0, n, worst,
      [=](int i, int best) {
        const int gain = p.gain(i), from = std::max(alpha, best);
        return gain - parallel(p.after(i), moves - 1, gain - beta, gain - from);
      },
      cleave::max{}, [=](int best) { return best >= beta; });
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 11);  // moves
  std::uint32_t seed = 7;
  for (int& x : numbers) x = static_cast<int>((seed = seed * 1664525 + 1013904223) >> 16) % 25 - 9;
  const position start{0, 0, true};
  return e.run([&] { return long{plain(start, e.size, worst, -worst)}; },
               [&] { return long{parallel(start, e.size, worst, -worst)}; });
}
