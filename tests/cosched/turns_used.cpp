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

struct two_jobs : testing::Test {
  std::unique_ptr<turn_board> board = std::make_unique<turn_board>();
  turns a{*board, 1, turns::usual_length, 0}, b{*board, 2, turns::usual_length, 0};

  // Each calls so often in its turn, and so often while both run; between() is what it does
  // meanwhile. Until done().
  template <class Between, class Done>
  void run(nanoseconds in_turns, nanoseconds at_once, Between between, Done done) {
    std::atomic<bool> end{false};
    const auto job = [&](turns& t) {
      std::int64_t calls = 0;
      for (nanoseconds since = now(), at = since; !end; between(), at = now())
        if (t.is_others() || at - since > (t.is_mine() ? in_turns : at_once))
          since = t.after_wait(at, ++calls);
    };
    std::thread one([&] { job(a); }), two([&] { job(b); });
    const nanoseconds until = now() + 20'000 * millisecond;
    while (!done() && now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(done());
    end = true;
    one.join(), two.join();
  }
};

TEST_F(two_jobs, that_leave_gaps_and_get_on_faster_are_compared_again) {
  run(
      millisecond / 2, 5 * millisecond / 4,
      [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); },
      [&] { return board->passed.load() == 2; });
  EXPECT_GT(a.stops(), 0);
  EXPECT_GT(b.stops(), 0);
}

// As many as four turns each, in which they call half as often as their time stands for.
TEST_F(two_jobs, that_leave_no_gaps_take_turns_whatever_the_comparison_says) {
  run(
      2 * millisecond, 2 * millisecond, [] {}, [&] { return a.stops() > 8 && b.stops() > 8; });
  EXPECT_EQ(board->failed, 0u);
  EXPECT_EQ(board->passed, 0u);
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
