// connect4 finds the scores that are known: with and without a table, sequentially and in parallel.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cleave/runtime.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "connect4/connect4.hpp"
#include "connect4/parse.hpp"
#include "connect4/sequential.hpp"
#include "connect4/trial.hpp"
#include "sanitized.hpp"

namespace {

using namespace apps::connect4;

struct known_position {
  std::string moves;
  int score;
  position board() const { return parse(moves); }
  int stones() const { return static_cast<int>(moves.size()); }
};

std::vector<known_position> known_positions() {
  std::ifstream in(CLEAVE_SOURCE_DIR "/tests/apps/connect4.txt");
  std::vector<known_position> all;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto blank = line.find(' ');
    all.push_back({line.substr(0, blank), std::stoi(line.substr(blank))});
  }
  return all;
}

// ---- a plain minimax, which shares nothing with the application

class plain_board {
public:
  explicit plain_board(const std::string& moves) {
    for (const char c : moves) drop(c - '1');
  }
  bool is_full(int column) const { return height(column) == 6; }
  int stones() const { return stones_; }

  // Whether the stone that lies on top of a column is part of four in a row.
  bool wins(int column) const {
    const int row = height(column) - 1;
    const char mine = at(column, row);
    for (const auto& [dx, dy] : {std::array{1, 0}, {0, 1}, {1, 1}, {1, -1}}) {
      int line = 1;
      for (const int way : {1, -1})
        for (int k = 1; at(column + way * k * dx, row + way * k * dy) == mine; k++) line++;
      if (line >= 4) return true;
    }
    return false;
  }
  void drop(int column) {
    columns_[static_cast<std::size_t>(column)] += stones_++ % 2 == 0 ? 'x' : 'o';
  }
  void lift(int column) {
    columns_[static_cast<std::size_t>(column)].pop_back();
    stones_--;
  }

private:
  int height(int column) const {
    return static_cast<int>(columns_[static_cast<std::size_t>(column)].size());
  }
  char at(int column, int row) const {
    if (column < 0 || column >= 7 || row < 0 || row >= height(column)) return 0;
    return columns_[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)];
  }
  std::array<std::string, 7> columns_;
  int stones_ = 0;
};

int minimax(plain_board& b);
int score_of_move(plain_board& b, int column) {
  b.drop(column);
  // The winner has half of all stones, 21, and may have used all but one of them before this one.
  const int score = b.wins(column) ? 22 - (b.stones() + 1) / 2 : -minimax(b);
  b.lift(column);
  return score;
}
int minimax(plain_board& b) {
  std::optional<int> best;
  for (int column = 0; column < 7; column++) {
    if (b.is_full(column)) continue;
    const int score = score_of_move(b, column);
    if (!best || score > *best) best = score;
  }
  return best.value_or(0);
}

// The value of a limited search, without any pruning: what `estimate` says in the end.
int limited_minimax(const position& p, int stones, int last) {
  if (p.all == board) return 0;
  if (p.wins() != 0) return win_now(stones);
  if (p.not_losing() == 0) return lose_next(stones);
  if (stones >= squares - 2) return 0;
  if (stones >= last) return estimate(p, stones);
  int best = worst;
  for (int column = 0; column < columns; column++)
    if (const bits move = p.playable() & column_of(column); move != 0)
      best = std::max(best, -limited_minimax(p.after(move), stones + 1, last));
  return best;
}

solution in_sequence(const known_position& k, const limits& l) {
  sequential::game g(l);
  return sequential::solve(g, k.board(), k.stones());
}
solution in_parallel(cleave::runtime& runtime, const known_position& k, const limits& l) {
  return runtime.run([&] {
    const parallel::published_game g(std::make_shared<const parallel::game>(l));
    return parallel::solve(g, k.board(), k.stones());
  });
}

constexpr limits with_table{1, squares}, without_table{0, squares};

// ---- the tests

TEST(connect4, known_scores_in_sequence) {
  const auto all = known_positions();
  EXPECT_GE(all.size(), 200u);
  for (const auto& each : all) {
    const solution with = in_sequence(each, with_table), without = in_sequence(each, without_table);
    EXPECT_EQ(with.score, each.score) << each.moves;
    EXPECT_EQ(without, with) << each.moves;
    EXPECT_LE(with.nodes, without.nodes) << each.moves;
  }
}

TEST(connect4, known_scores_by_a_minimax) {
  int compared = 0;
  for (const auto& each : known_positions()) {
    if (each.stones() < 30) continue;
    compared++;
    plain_board b(each.moves);
    EXPECT_EQ(minimax(b), each.score) << each.moves;
    const solution found = in_sequence(each, without_table);
    EXPECT_EQ(score_of_move(b, found.column), each.score) << each.moves;
  }
  EXPECT_GE(compared, 45);
}

class connect4_with : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(workers, connect4_with, testing::Values(1, 2, 4));

TEST_P(connect4_with, known_scores) {
  cleave::runtime runtime(cleave::options{.workers = GetParam()});
  for (const auto& each : known_positions()) {
    if (cleave::tests::sanitized && each.stones() < 20) continue;  // it takes long
    const solution expected = in_sequence(each, with_table);
    EXPECT_EQ(in_parallel(runtime, each, with_table), expected) << each.moves;
    EXPECT_EQ(in_parallel(runtime, each, without_table), expected) << each.moves;
  }
}

TEST(connect4, divided_at_every_poll) {
  cleave::runtime runtime(cleave::options{.workers = 2, .check = true});
  for (const auto& each : known_positions()) {
    if (each.stones() < 26) continue;
    EXPECT_EQ(in_parallel(runtime, each, with_table).score, each.score) << each.moves;
    EXPECT_EQ(in_parallel(runtime, each, without_table).score, each.score) << each.moves;
  }
}

// A limited search gives what a minimax of the same depth does.
TEST(connect4, limited_search) {
  cleave::runtime runtime(cleave::options{.workers = 2});
  for (const std::string moves : {"", "4", "444", "12", "7766", "4455", "1122335", "353535"})
    for (int depth = 1; depth <= 6; depth++) {
      const known_position k{moves, 0};
      const int last = k.stones() + depth;
      const int expected = limited_minimax(k.board(), k.stones(), last);
      for (const int mib : {0, 1}) {
        EXPECT_EQ(in_sequence(k, {mib, last}).score, expected) << moves << ", " << depth;
        EXPECT_EQ(in_parallel(runtime, k, {mib, last}).score, expected) << moves << ", " << depth;
      }
    }
}

// Threads that write and read the same places never see an entry of another position, nor a half of
// one.
TEST(connect4, table_shared_by_threads) {
  transposition_table table(1);
  const auto score_of = [](std::uint64_t key) { return static_cast<int>(key % 43) - 21; };
  std::atomic<int> wrong{0};
  const auto use = [&](std::uint64_t seed) {
    for (std::uint64_t i = 0; i < 2'000'000; i++) {
      const std::uint64_t key = 1 + (seed + i * 0x9e3779b97f4a7c15) % (std::uint64_t{1} << 49);
      const auto found = table.find(key);
      if (found.what != transposition_table::bound::none && found.score != score_of(key)) wrong++;
      table.store(key, transposition_table::bound::exact, score_of(key));
    }
  };
  std::thread other(use, 1);
  use(1);
  other.join();
  EXPECT_EQ(wrong, 0);
  table.store(5, transposition_table::bound::lower, -21);
  EXPECT_EQ(table.find(5).score, -21);
  EXPECT_EQ(table.find(5).what, transposition_table::bound::lower);
}

TEST(connect4, is_right) {
  const auto all = known_positions();
  for (std::size_t i = 0; i < all.size(); i += 20) {
    const auto trial = trial_of(all[i].board(), with_table, all[i].score);
    EXPECT_EQ(trial(nullptr).found.wrong, "");
    cleave::runtime runtime(cleave::options{.workers = 2});
    EXPECT_EQ(trial(&runtime).found.wrong, "");
    EXPECT_NE(trial_of(all[i].board(), with_table, all[i].score + 1)(nullptr).found.wrong, "");
  }
}

}  // namespace
