// labels: timing
// Turns of jobs that have the same CPUs, and use them. Here a job is one rank, which is a thread.
#include "cosched/turns.hpp"

#include "cosched/clock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace cleave::cosched;

constexpr nanoseconds millisecond = 1'000'000;

// Each needs 2.5 times as long from call to call while the other one runs, too.
TEST(turns, in_which_jobs_get_on_faster_become_long) {
  const auto board = std::make_unique<turn_board>();
  turns a{*board, 1, turns::usual_length, 0}, b{*board, 2, turns::usual_length, 0};
  std::atomic<bool> end{false};
  const auto job = [&](turns& t) {
    std::int64_t calls = 0;
    for (nanoseconds since = now(), at = since; !end; at = now())
      if (t.is_others() || at - since > millisecond / 2 * (t.is_mine() ? 2 : 5) / 2)
        since = t.after_wait(at, ++calls);
  };
  std::thread one([&] { job(a); }), two([&] { job(b); });
  const nanoseconds until = now() + 20'000 * millisecond;
  while (board->passed.load() < 2 && now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(board->passed.load(), 2u);
  end = true;
  one.join(), two.join();
  EXPECT_GT(a.stops(), 0);
  EXPECT_GT(b.stops(), 0);
}

// The longest ago first: nobody is passed over, however many there are.
TEST(turns, go_round) {
  turn_board board;
  constexpr unsigned jobs = 4;
  std::array<std::unique_ptr<turns>, jobs> all;
  for (unsigned i = 0; i < jobs; ++i) {
    all[i] = std::make_unique<turns>(board, i + 1, turns::usual_length, 0);
    all[i]->after_wait(now(), 0);
  }
  std::atomic<bool> end{false};
  std::array<std::atomic<int>, jobs> had{};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < jobs; ++i) {
    threads.emplace_back([&, i] {
      for (std::int64_t calls = 0; !end;) {
        all[i]->after_wait(now(), ++calls);
        had[i] = static_cast<int>(all[i]->stops());        // each ends with a turn
        board.score = turns::enough, board.began = now();  // as if they paid
      }
    });
  }
  const nanoseconds until = now() + 20'000 * millisecond;
  while (had[0] < 5 && now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  end = true;
  std::array<int, jobs> at_end{};
  for (unsigned i = 0; i < jobs; ++i) at_end[i] = had[i];
  board.turn = 0;
  board.bell.fetch_add(1);
  for (auto& t : threads) t.join();
  EXPECT_GE(at_end[0], 5);
  for (const int n : at_end) EXPECT_NEAR(n, at_end[0], 1);
}

}  // namespace
