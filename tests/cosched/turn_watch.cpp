// labels: once
// TSan has to hold signals back, and cannot those that it is not told of.
#include "cosched/turn_watch.hpp"
#include "cosched/clock.hpp"
#include "cosched/rank.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace cleave::cosched;

constexpr nanoseconds millisecond = 1'000'000, long_turn = 60'000 * millisecond;

turns* to_interrupt = nullptr;

TEST(turn_watch, interrupts_a_rank_that_computes_in_anothers_turn) {
  constexpr unsigned first = 1, place = 2;
  const auto board = std::make_unique<turn_board>();
  turns often(*board, first, turns::usual_length, -1);
  turns seldom(*board, place, turns::usual_length, -1, true);
  std::int64_t calls = 0, its_calls = 0;
  const nanoseconds begin = now();
  for (nanoseconds at = begin; at < begin + 500 * millisecond && !often.is_mine();
       at += millisecond)
    if (often.after_wait(at, ++calls); (at - begin) % (50 * millisecond) == 0 && !often.is_mine())
      seldom.after_wait(at, ++its_calls);
  ASSERT_TRUE(seldom.wants_interrupts());

  to_interrupt = &seldom;
  turn_watch watch([] { to_interrupt->interrupted(0); });
  ASSERT_TRUE(watch.works());
  const auto give_to = [&](unsigned whose, nanoseconds length) {
    EXPECT_TRUE(board->change(board->turn, {whose, now() + length}));
  };
  give_to(place, long_turn);
  board->of[place].seldom = 0;
  watch.begin(seldom, *board);
  ASSERT_TRUE(watch.has_begun());
  for (const nanoseconds end = now() + 10 * millisecond; now() < end;) {}
  EXPECT_EQ(seldom.stops(), 0) << "it is its own turn";
  give_to(first, 50 * millisecond);
  for (const nanoseconds end = now() + long_turn; seldom.stops() == 0 && now() < end;) {}
  EXPECT_EQ(seldom.stops(), 1);
  EXPECT_NE(board->of[place].seldom, 0) << "it says that it is there";
}

// A rank that stands aside does not say that its job is there, nor does its watch.
TEST(turn_watch, is_silent_when_its_rank_stands_aside) {
  auto shared = node::make(1);
  auto place = turn_place::take("/cleave-cosched-turns-test-" + std::to_string(getpid()));
  ASSERT_TRUE(shared != nullptr && place != nullptr);
  shared->forget_name();
  turn_board& board = place->board();
  auto& mine = board.of[place->number()];
  auto& often = board.of[place->number() + 1];  // a job that calls MPI often
  rank r;
  r.take_turns(std::move(place), turns::usual_length, -1, std::make_unique<turn_watch>([] {}), 2);
  r.start(std::move(shared), nullptr, 0,
          {2, spin_time(policy::block, 20'000, 20'000, 1), 0, allowance(), false});
  nanoseconds called = 0;
  for (const nanoseconds end = now() + long_turn; mine.seldom == 0 && now() < end;) {
    board.turn = turn_board::encoded({turn_board::everybody, now() + long_turn});
    often.seen = often.often = now();
    if (now() - called < 50 * millisecond) continue;
    r.begin_call(false), r.end_call(false);
    called = now();
  }
  ASSERT_NE(mine.seldom, 0);
  r.stand_aside();
  for (int i = 0; i < 2; ++i) {  // it may be about to say so once more
    mine.seldom = 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  EXPECT_EQ(mine.seldom, 0);
  r.stop();
}

}  // namespace
