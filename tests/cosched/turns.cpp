// Turns of jobs that have the same CPUs. Here a job is one rank, which is a thread.
#include "cosched/turns.hpp"

#include "cosched/clock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace cleave::cosched;

constexpr nanoseconds millisecond = 1'000'000;

struct board_of_two : testing::Test {
  std::unique_ptr<turn_board> board = std::make_unique<turn_board>();
  turns a{*board, 1, turns::usual_length, 0}, b{*board, 2, turns::usual_length, 0};

  // Each says that it is there, until one of them has begun to take turns: the first one.
  void begin() {
    b.after_wait(now(), {});
    for (nanoseconds at = now(); !a.is_mine(); at += millisecond) a.after_wait(at, {});
  }
};

TEST(turns, alone_there_are_none) {
  turn_board board;
  turns only(board, 1, turns::usual_length, 0);
  const nanoseconds begin = now();
  for (int i = 0; i < 1'000; ++i) only.after_wait(begin + i * millisecond, {});
  EXPECT_FALSE(only.is_mine());
  EXPECT_EQ(only.stops(), 0);
}

TEST_F(board_of_two, who_is_not_on_stops_until_the_turn_is_over) {
  begin();
  EXPECT_TRUE(b.is_others());
  const nanoseconds at = now();
  const nanoseconds went_on = b.after_wait(at, {});  // nobody else ends it: the time does
  EXPECT_TRUE(b.is_mine());
  EXPECT_TRUE(a.is_others());
  EXPECT_EQ(b.stops(), 1);
  EXPECT_EQ(b.stopped(), went_on - at);
  EXPECT_GT(went_on - at, turns::short_length / 10);
}

TEST_F(board_of_two, a_turn_by_a_wrong_clock_is_over) {
  begin();
  board->turn.store(board->turn.load() + (std::uint64_t{3'600'000'000} << 8));  // an hour longer
  b.after_wait(now(), {});
  EXPECT_TRUE(b.is_mine());
}

TEST_F(board_of_two, who_sleeps_in_its_turn_gives_it_to_who_stops) {
  begin();
  a.give_up();
  EXPECT_TRUE(a.is_mine()) << "there is nobody to give it to";
  board->turn.store(board->turn.load() + (std::uint64_t{10'000'000} << 8));  // ten seconds longer
  board->score = 10 * millisecond;  // turns have been used so far
  std::thread other([&] { b.after_wait(now(), {}); });
  while (!b.is_mine()) a.give_up(), std::this_thread::yield();
  other.join();
  EXPECT_EQ(b.stops(), 1);
}

TEST_F(board_of_two, turns_that_are_not_used_end_for_all) {
  begin();
  board->turn.store(board->turn.load() + (std::uint64_t{10'000'000} << 8));
  std::thread other([&] { b.after_wait(now(), {}); });  // stops
  while (board->of[2].paused.load() == 0) std::this_thread::yield();
  board->score = -2 * millisecond;  // it was so before
  a.give_up();
  other.join();
  EXPECT_FALSE(a.is_mine() || a.is_others());
  const nanoseconds stopped = b.stopped();
  b.after_wait(now(), {});
  EXPECT_EQ(b.stopped(), stopped) << "for some time there are none";
}

// ---- the place on a board

std::string own_name() { return "/cleave-cosched-turns-test-" + std::to_string(getpid()); }
bool exists(const std::string& name) { return access(("/dev/shm" + name).c_str(), F_OK) == 0; }

TEST(turn_place, each_job_has_its_own_and_the_last_leaves_nothing) {
  const std::string name = own_name();
  auto first = turn_place::take(name), second = turn_place::take(name);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_NE(first->number(), second->number());
  auto rank = turn_place::open(name, second->number());
  ASSERT_TRUE(rank != nullptr);
  rank->board().bell.store(7);
  EXPECT_EQ(first->board().bell.load(), 7u);
  rank.reset(), first.reset();
  EXPECT_TRUE(exists(name));
  first = turn_place::take(name);
  EXPECT_EQ(first->number(), 1u) << "the place was given back";
  first.reset(), second.reset();
  EXPECT_FALSE(exists(name));
}

TEST(turn_place, of_who_was_killed_is_free) {
  const std::string name = own_name();
  const pid_t child = fork();
  if (child == 0) {
    auto place = turn_place::take(name);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(exists(name));
  auto place = turn_place::take(name);
  ASSERT_TRUE(place != nullptr);
  EXPECT_EQ(place->number(), 1u);
  place.reset();
  EXPECT_FALSE(exists(name));
}

TEST(turn_place, others_cannot_have_made_it) {
  const std::string name = own_name();
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  fchmod(file, 0666);
  EXPECT_EQ(turn_place::take(name), nullptr);
  fchmod(file, 0600);
  EXPECT_NE(turn_place::take(name), nullptr);
  close(file);
  shm_unlink(name.c_str());
}

}  // namespace
