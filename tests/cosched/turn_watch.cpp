// labels: once
// TSan has to hold signals back, and cannot those that it is not told of.
#include "cosched/turn_watch.hpp"
#include "cosched/clock.hpp"

#include <gtest/gtest.h>

#include <memory>

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

}  // namespace
