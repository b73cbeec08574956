// Turns of jobs that have the same CPUs. Here a job is one rank, which is a thread.
#include "cosched/turns.hpp"
#include "cosched/recent_calls.hpp"
#include "cosched/turn_place.hpp"

#include "cosched/clock.hpp"
#include "machine/thread.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace cleave::cosched;

constexpr nanoseconds millisecond = 1'000'000;

TEST(recent_calls, are_those_of_the_last_milliseconds) {
  recent_calls r;
  EXPECT_EQ(r.apart(), 0);
  nanoseconds at = millisecond;
  std::int64_t calls = 0;
  const auto call = [&](nanoseconds apart, int times) {
    for (int i = 0; i < times; ++i) r.saw(at += apart, ++calls);
  };
  call(millisecond, 20);
  EXPECT_EQ(r.apart(), 0) << "not for long enough";
  call(millisecond, 80);
  EXPECT_EQ(r.apart(), millisecond);
  call(millisecond / 4, 400);
  EXPECT_EQ(r.apart(), millisecond / 4) << "what was before is forgotten";
  call(2 * recent_calls::seldom, 12);
  EXPECT_EQ(r.apart(), 0) << "too seldom";
  r.saw(at += 2 * recent_calls::longest_gap, calls += 1'000);
  call(millisecond, 39);
  EXPECT_EQ(r.apart(), millisecond) << "what was before a long wait is forgotten";
}

struct board_of_two : testing::Test {
  std::unique_ptr<turn_board> board = std::make_unique<turn_board>();
  turns a{*board, 1, turns::usual_length, 0}, b{*board, 2, turns::usual_length, 0};
  std::int64_t calls = 0;

  // Each calls MPI `apart` after its last call, until one of them has begun to take turns or this
  // has gone on for half a second; returns the time.
  nanoseconds call_until_turns(nanoseconds apart = millisecond) {
    nanoseconds at = now();
    for (const nanoseconds end = at + 500 * millisecond; at < end && !in_turns(); at += apart)
      ++calls, a.after_wait(at, calls), !in_turns() ? b.after_wait(at, calls) : 0;
    return at;
  }
  bool in_turns() const { return a.is_mine() || b.is_mine(); }
  turns& holder() { return a.is_mine() ? a : b; }
  turns& other() { return a.is_mine() ? b : a; }
  void lengthen(nanoseconds by) {
    board->turn.store(board->turn.load() + (static_cast<std::uint64_t>(by / 1'000) << 8));
  }
};

// Jobs whose ranks stop at once. Each gives its turns up after `uses`.
struct turns_given_up {
  static constexpr unsigned most = 3;

  explicit turns_given_up(unsigned n) : jobs(n) {
    board->turn = turn_board::encoded({1, at + turns::usual_length});
    board->given = at, board->usual = turns::usual_length;
  }

  /// Without stops, a turn goes on for `longer` when its time is over.
  void run(int times, nanoseconds longer = 0) {
    for (int i = 0; i < times; ++i) {
      const std::uint64_t word = board->turn;
      const auto [whose, until] = turn_board::decoded(word);
      last = std::min(uses[whose], until - at);
      at += last, had[whose] += last;
      if (last == until - board->given) at += longer;
      for (unsigned k = 1; k <= jobs; ++k) board->of[k].paused = k == whose ? 0 : at;
      EXPECT_TRUE(board->pass(word, whose, at, turns::usual_length, turns::usual_length));
      board->given = at;  // the times are invented
    }
  }
  nanoseconds deficits() const {
    nanoseconds sum = 0;
    for (unsigned k = 1; k <= jobs; ++k) sum += board->of[k].deficit;
    return sum;
  }

  unsigned jobs;
  std::unique_ptr<turn_board> board = std::make_unique<turn_board>();
  nanoseconds at = 1'000 * millisecond;
  nanoseconds uses[most + 1] = {0, 1'000 * millisecond, 1'000 * millisecond, 1'000 * millisecond};
  nanoseconds had[most + 1] = {};
  nanoseconds last = 0;  // turn
};

TEST(turn_board, who_gives_turns_up_has_as_much_time_as_others) {
  for (const unsigned jobs : {2u, 3u})
    for (const nanoseconds uses : {70, 80, 100, 1'000}) {
      turns_given_up t(jobs);
      t.uses[1] = uses * millisecond;
      t.run(300);
      const auto first = static_cast<double>(t.had[1]);
      for (unsigned k = 2; k <= jobs; ++k)
        EXPECT_NEAR(static_cast<double>(t.had[k]) / first, 1, 0.02) << uses << " ms, " << jobs;
      EXPECT_LE(std::abs(t.deficits()), millisecond);
    }
}

TEST(turn_board, who_has_no_use_for_turns_halves_those_of_others_at_most) {
  turns_given_up t(2);
  t.uses[1] = millisecond;
  t.run(100);
  t.run(t.board->whose() == 2 ? 1 : 2);
  EXPECT_EQ(t.last, turns::usual_length / 2);
  EXPECT_GT(t.had[2], 45 * t.had[1]);
}

TEST(turn_board, what_jobs_lacked_is_forgotten_with_other_jobs) {
  turns_given_up t(2);
  t.uses[1] = millisecond;
  t.run(20);
  t.board->of[1].deficit = 0, t.uses[1] = 1'000 * millisecond;  // another job has its place
  t.run(20);
  EXPECT_NEAR(static_cast<double>(t.last), turns::usual_length, millisecond);
}

TEST(turn_board, what_nobody_else_wanted_is_nobodys_deficit) {
  turns_given_up t(2);
  t.run(10, 500 * millisecond);
  EXPECT_EQ(t.last, turns::usual_length);
  EXPECT_EQ(t.board->of[1].deficit, 0);
}

TEST(turn_board, who_was_killed_while_it_stopped_gets_no_turn) {
  turn_board board;
  const nanoseconds at = now();
  board.turn = turn_board::encoded({1, at});
  board.of[2].paused = at - 5 * turns::usual_length;
  EXPECT_FALSE(board.pass(board.turn, 1, at, turns::usual_length, turns::usual_length));
  board.of[3].paused = board.of[3].ended = at;  // its last turn was later
  EXPECT_TRUE(board.pass(board.turn, 1, at, turns::usual_length, turns::usual_length));
  EXPECT_EQ(board.whose(), 3u);
}

TEST(turns, alone_there_are_none) {
  turn_board board;
  turns only(board, 1, turns::usual_length, 0);
  const nanoseconds begin = now();
  for (int i = 0; i < 1'000; ++i) {
    only.after_wait(begin + i * millisecond, i);
    ASSERT_FALSE(only.is_mine());
  }
  EXPECT_EQ(only.stops(), 0);
}

TEST(turns, alone_what_was_found_with_others_is_forgotten) {
  turn_board board;
  board.failed = board.passed = 3;
  turns only(board, 1, turns::usual_length, 0);
  only.after_wait(now(), 0);
  EXPECT_EQ(board.failed + board.passed, 0u);
}

TEST_F(board_of_two, who_is_not_on_stops_until_the_turn_is_over) {
  call_until_turns();
  ASSERT_TRUE(in_turns());
  turns &on = holder(), &off = other();
  EXPECT_TRUE(off.is_others());
  const nanoseconds at = now();  // the times above were invented
  board->turn = turn_board::encoded({board->whose(), at + turns::short_length});
  const nanoseconds went_on = off.after_wait(at, calls);  // nobody else ends it: the time does
  EXPECT_TRUE(off.is_mine());
  EXPECT_TRUE(on.is_others());
  EXPECT_EQ(off.stops(), 1);
  EXPECT_EQ(off.stopped(), went_on - at);
  EXPECT_GE(went_on - at, turns::short_length - 1'000);  // the board has microseconds
}

TEST_F(board_of_two, a_turn_by_a_wrong_clock_is_over) {
  call_until_turns();
  lengthen(3'600'000 * millisecond);
  turns& off = other();
  off.after_wait(now(), calls);
  EXPECT_TRUE(off.is_mine());
}

TEST_F(board_of_two, who_sleeps_in_its_turn_gives_it_to_who_stops) {
  call_until_turns();
  turns &on = holder(), &off = other();
  on.give_up();
  EXPECT_TRUE(on.is_mine()) << "there is nobody to give it to";
  lengthen(10'000 * millisecond);
  std::thread waiting([&] { off.after_wait(now(), calls); });
  while (!off.is_mine()) on.give_up(), std::this_thread::yield();
  waiting.join();
  EXPECT_EQ(off.stops(), 1);
}

TEST_F(board_of_two, who_ends_leaves_its_turn_to_who_stops) {
  call_until_turns();
  turns &on = holder(), &off = other();
  lengthen(10'000 * millisecond);
  std::thread waiting([&] { off.after_wait(now(), calls); });
  const unsigned number = &off == &a ? 1 : 2;
  while (board->of[number].paused == 0) std::this_thread::yield();
  on.leave();
  waiting.join();
  EXPECT_TRUE(off.is_mine());
  on.leave();
  EXPECT_TRUE(off.is_mine()) << "another's turn is not ended";
}

TEST_F(board_of_two, who_ends_while_nobody_stops_leaves_the_cpus_to_all) {
  call_until_turns();
  lengthen(10'000 * millisecond);
  holder().leave();
  EXPECT_FALSE(in_turns());
}

TEST_F(board_of_two, there_are_none_for_who_calls_seldom) {
  call_until_turns(2 * recent_calls::seldom);
  EXPECT_FALSE(in_turns());
}

TEST_F(board_of_two, there_are_none_while_another_calls_seldom) {
  turns third(*board, 3, turns::usual_length, 0);
  std::int64_t its_calls = 0;
  const nanoseconds begin = now();
  for (nanoseconds at = begin; at < begin + 300 * millisecond; at += millisecond) {
    a.after_wait(at, ++calls);
    if ((at - begin) % (8 * millisecond) == 0) third.after_wait(at, ++its_calls);
  }
  EXPECT_FALSE(a.is_mine());
}

// Both have called each millisecond, and take turns now.
struct one_turn : board_of_two {
  void SetUp() override {
    call_until_turns();
    ASSERT_TRUE(in_turns());
    board->began = now();  // not by an invented time
  }
  // It begins, during() happens, it ends after so many calls; and then there is the next one.
  // Without turns there would be 80 in the time that it stands for. The other one's turn is
  // skipped.
  template <class During>
  void of(turns& t, std::int64_t calls_in_it, During during) {
    const nanoseconds at = now(), end = at + turns::short_length;
    const unsigned mine = &t == &a ? 1 : 2;
    board->turn = encoded(end, mine);
    t.after_wait(at, calls);
    during();
    if (in_turns()) board->turn = encoded(end, 3 - mine);
    t.after_wait(end, calls += calls_in_it);
  }
  void of(turns& t, std::int64_t calls_in_it) {
    of(t, calls_in_it, [] {});
  }
  static std::uint64_t encoded(nanoseconds until, unsigned whose) {
    return turn_board::encoded({whose, until});
  }
};

TEST_F(one_turn, in_which_a_job_gets_on_faster_is_a_gain) {
  of(a, 84);
  EXPECT_NEAR(static_cast<double>(board->score.load()), 5 + turns::tolerated, 2);
  for (int i = 0; i < 6; ++i) of(a, 100);
  EXPECT_TRUE(in_turns());
  EXPECT_EQ(board->score, turns::enough);
}

TEST_F(one_turn, in_which_it_gets_on_slower_is_a_loss_and_some_end_turns_for_all) {
  int n = 0;
  for (; n < 6 && in_turns(); ++n) of(a, 64);  // 20 per cent
  EXPECT_EQ(n, 4);
  const nanoseconds stopped = b.stopped();
  b.after_wait(now(), calls);
  EXPECT_EQ(b.stopped(), stopped) << "for some time there are none";
}

TEST_F(one_turn, in_which_it_gets_on_a_little_slower_is_no_loss) {
  for (int i = 0; i < 6; ++i) of(a, 74);
  EXPECT_TRUE(in_turns());
  EXPECT_GE(board->score, 0);
}

TEST_F(one_turn, that_was_very_slow_ends_nothing) {
  of(a, 0);
  EXPECT_TRUE(in_turns());
  EXPECT_EQ(board->score, -turns::most_counted);
}

// Each rank of eight tells of it.
TEST_F(one_turn, that_was_very_slow_for_some_of_many_ranks_ends_nothing) {
  turns eighth(*board, 2, turns::usual_length, 0, false, 8);
  eighth.after_wait(now(), calls);  // it is not new
  board->score = -5 * turns::most_counted;
  of(eighth, 0);
  EXPECT_EQ(board->score, -6 * turns::most_counted);
  EXPECT_TRUE(in_turns());
  of(eighth, 0);
  EXPECT_FALSE(in_turns()) << "but a little more does";
}

TEST_F(one_turn, that_was_given_up_is_judged_by_the_time_before) {
  const nanoseconds at = now() + 150 * millisecond, end = at + turns::short_length;
  board->turn = encoded(end, 1);
  a.after_wait(at, calls);
  board->of[2].paused = now();
  a.give_up();  // at once, so the turn is too short to be judged
  EXPECT_TRUE(b.is_mine());
  const bool at_once = now() < at;
  board->turn = encoded(end, 2);
  a.after_wait(end, calls);
  EXPECT_GE(board->score, -turns::most_counted);
  if (at_once) { EXPECT_EQ(board->score, 0); }
}

TEST_F(one_turn, that_is_short_is_judged_with_the_next) {
  const auto short_one = [&] {
    of(a, 0, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      board->of[2].paused = now();
      a.give_up();
    });
  };
  const nanoseconds begin = now();
  short_one();
  if (now() - begin < 4 * millisecond) { EXPECT_EQ(board->score, 0); }
  short_one(), short_one();
  EXPECT_LE(board->score, -turns::most_counted);
}

// It spins where others could compute.
TEST_F(one_turn, in_which_it_only_spins_is_one_with_gaps) {
  using cleave::machine::cpu_time;
  const nanoseconds at = now(), end = at + turns::short_length;
  board->turn = encoded(end, 1);
  a.after_wait(at, calls);
  for (const auto until = cpu_time() + turns::short_length; cpu_time() < until;) {}
  board->turn = encoded(end, 2);
  a.after_wait(end, calls, turns::short_length);
  EXPECT_EQ(board->score, -turns::most_counted);
}

TEST_F(one_turn, that_nobody_else_wanted_is_not_judged) {
  of(a, 0, [&] { board->turn = encoded(now() - 50 * millisecond, 1), a.after_wait(now(), calls); });
  EXPECT_EQ(board->score, 0);
  EXPECT_FALSE(in_turns());
}

TEST_F(one_turn, of_before_turns_began_anew_is_not_judged) {
  of(a, 0, [&] { board->began = now() + 1'000 * millisecond; });
  EXPECT_EQ(board->score, 0);
}

TEST_F(one_turn, after_long_ones_that_pay_is_compared_again) {
  board->began = now() - 600 * millisecond;
  for (unsigned i = 1; i < turns::turns_with_gaps; ++i) {
    of(a, 100);
    EXPECT_TRUE(in_turns()) << "it can have them by chance";
  }
  of(a, 100);
  EXPECT_FALSE(in_turns());
  EXPECT_EQ(board->passed, 1u);
}

// What a rank did before it computed, or slept, for long says nothing of what it does now.
TEST_F(one_turn, before_a_long_time_without_mpi_is_not_judged) {
  of(a, 0,
     [&] { a.after_wait(now() + 2 * turns::usual_length + 2 * recent_calls::longest_gap, calls); });
  EXPECT_FALSE(in_turns());
  EXPECT_EQ(board->score, 0);
  EXPECT_EQ(board->failed, 0u);
}

// ---- a job that calls seldom, and can be interrupted

struct beside_seldom : board_of_two {
  static constexpr unsigned place = 3;
  turns seldom{*board, place, turns::usual_length, -1, true};
  std::int64_t its_calls = 0;

  // a calls each millisecond and the other one each 50, for at most half a second.
  void call_until_turns() {
    const nanoseconds begin = now();
    for (nanoseconds at = begin; at < begin + 500 * millisecond && !a.is_mine(); at += millisecond)
      if (a.after_wait(at, ++calls); (at - begin) % (50 * millisecond) == 0 && !a.is_mine())
        seldom.after_wait(at, ++its_calls);
  }
  void SetUp() override {
    call_until_turns();
    ASSERT_TRUE(a.is_mine());
    board->began = now();  // not by an invented time
  }
  void turn_is(unsigned whose, nanoseconds length) {
    board->turn = turn_board::encoded({whose, now() + length});
  }
  void give_up() {
    board->of[1].paused = now(), board->given = 0;
    EXPECT_TRUE(seldom.give_up());
    board->of[1].paused = 0;
  }
  // A turn of its own that lasts while during() does. Then it stops for a short one of another.
  template <class During>
  void own_turn(During during) {
    board->began = now() - 1;  // so that nothing is compared again
    turn_is(place, 10'000 * millisecond);
    seldom.after_wait(now(), ++its_calls);
    during();
    turn_is(1, millisecond);
    seldom.interrupted(its_calls);
  }
};

void compute(nanoseconds time) {
  for (const nanoseconds end = now() + time; now() < end;) {}
}

TEST_F(beside_seldom, there_are_turns_for_which_it_is_late) {
  EXPECT_TRUE(seldom.wants_interrupts());
  EXPECT_TRUE(seldom.wants_all_calls());
  EXPECT_TRUE(seldom.is_late());
  EXPECT_FALSE(a.is_late());
  turn_is(place, millisecond);
  EXPECT_FALSE(seldom.is_late());
}

TEST_F(beside_seldom, an_interrupt_stops_it_until_the_turn_is_over) {
  turn_is(1, 10'000 * millisecond);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (board->of[place].paused == 0) std::this_thread::yield();
    EXPECT_FALSE(seldom.is_late());
    is_over = true;
    EXPECT_TRUE(board->change(board->turn, {place, now() + 10'000 * millisecond}));
  });
  seldom.interrupted(its_calls);
  EXPECT_TRUE(is_over);
  other.join();
  EXPECT_EQ(seldom.stops(), 1);
  EXPECT_TRUE(seldom.is_mine());
}

TEST_F(beside_seldom, an_interrupt_in_its_own_turn_does_nothing) {
  turn_is(place, 20 * millisecond);
  seldom.interrupted(its_calls);
  turn_is(turn_board::everybody, 20 * millisecond);
  seldom.interrupted(its_calls);
  EXPECT_EQ(seldom.stops(), 0);
}

turns* to_interrupt = nullptr;

// While it stops already, for one.
TEST_F(beside_seldom, an_interrupt_within_a_call_does_nothing) {
  to_interrupt = &seldom;
  struct sigaction act {};
  act.sa_handler = [](int) { to_interrupt->interrupted(0); };
  sigaction(SIGUSR1, &act, nullptr);
  turn_is(1, 100 * millisecond);
  std::thread stopping([&] { seldom.after_wait(now(), ++its_calls); });
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pthread_kill(stopping.native_handle(), SIGUSR1);
  }
  stopping.join();
  EXPECT_EQ(seldom.stops(), 1);
}

TEST_F(beside_seldom, turns_of_which_it_sleeps_little_go_on) {
  own_turn([&] { compute(120 * millisecond), give_up(); });
  EXPECT_TRUE(seldom.is_mine());  // the next one
}

TEST_F(beside_seldom, turns_of_which_it_sleeps_much_end_for_all) {
  const nanoseconds begin = now();
  own_turn([&] { compute(millisecond), give_up(); });
  if (now() - begin < 90 * millisecond) { EXPECT_TRUE(seldom.is_mine()) << "that says little"; }
  for (int i = 0; i < 200 && board->whose() != turn_board::everybody; ++i)
    own_turn([&] { compute(millisecond), give_up(); });
  EXPECT_EQ(board->whose(), turn_board::everybody);
  EXPECT_EQ(board->failed, 1u);
}

TEST_F(beside_seldom, nobody_gives_a_turn_up_before_it_has_left_the_cpus) {
  turn_is(1, 10'000 * millisecond);
  board->of[place].paused = now();
  board->given = now() + 1'000 * millisecond;
  EXPECT_FALSE(a.give_up());
  EXPECT_TRUE(a.is_mine());
  board->given = now() - turns::all_interrupted;
  EXPECT_TRUE(a.give_up());
  EXPECT_TRUE(seldom.is_mine());
}

TEST_F(beside_seldom, that_stands_aside_is_not_interrupted_and_does_not_say_that_it_is_there) {
  EXPECT_TRUE(seldom.is_late());
  seldom.stand_aside();
  EXPECT_FALSE(seldom.is_late());
  board->of[place].seen = board->of[place].seldom = 0;
  seldom.tell_seldom(now());
  EXPECT_EQ(board->of[place].seen, 0);
  EXPECT_EQ(board->of[place].seldom, 0);
}

TEST_F(beside_seldom, that_calls_often_later_is_not_interrupted) {
  turn_is(turn_board::everybody, 10'000 * millisecond);
  nanoseconds at = now() + 1'000 * millisecond;
  for (int i = 0; i < 100; ++i) seldom.after_wait(at += millisecond, ++its_calls);
  EXPECT_FALSE(seldom.wants_interrupts());
  EXPECT_FALSE(seldom.wants_all_calls());
  turn_is(1, millisecond);
  EXPECT_FALSE(seldom.is_late());
}

TEST_F(beside_seldom, that_is_alone_later_is_not_interrupted) {
  turn_is(turn_board::everybody, 0);
  nanoseconds at = now();
  seldom.after_wait(at += 200 * millisecond, ++its_calls);
  EXPECT_TRUE(seldom.wants_interrupts());
  seldom.after_wait(at += 2'000 * millisecond, ++its_calls);
  seldom.after_wait(at += 200 * millisecond, ++its_calls);
  EXPECT_FALSE(seldom.wants_interrupts());
}

TEST_F(board_of_two, who_has_just_begun_is_not_known_to_call_seldom) {
  turns c(*board, 3, turns::usual_length, -1, true);
  const nanoseconds begin = now();
  for (nanoseconds at = begin; at < begin + 90 * millisecond; at += millisecond)
    if (a.after_wait(at, ++calls); (at - begin) % (20 * millisecond) == 0) c.after_wait(at, 1);
  EXPECT_TRUE(c.wants_interrupts());
  EXPECT_EQ(board->of[3].seldom, 0);
  EXPECT_FALSE(a.is_mine());
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
  turn_board::place& freed = second->board().of[1];
  freed.often = freed.seldom = freed.paused = freed.ended = freed.deficit = 7;
  rank.reset(), first.reset();
  EXPECT_TRUE(exists(name));
  first = turn_place::take(name);
  EXPECT_EQ(first->number(), 1u) << "the place was given back";
  EXPECT_EQ(freed.often + freed.seldom + freed.paused + freed.ended + freed.deficit, 0)
      << "with nothing of who had it";
  first.reset(), second.reset();
  EXPECT_FALSE(exists(name));
}

TEST(turn_place, of_who_was_killed_is_free) {
  const std::string name = own_name();
  const pid_t child = fork();
  if (child == 0) {
    auto place = turn_place::take(name);
    turn_board& board = place->board();
    board.turn = turn_board::encoded({1, now() + 30'000 * millisecond});
    board.failed = 3, board.passed = 1, board.score = -20;
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(exists(name));
  auto place = turn_place::take(name);
  ASSERT_TRUE(place != nullptr);
  EXPECT_EQ(place->number(), 1u);
  const turn_board& board = place->board();
  EXPECT_EQ(board.whose(), turn_board::everybody) << "what it has left rules nobody";
  EXPECT_EQ(board.failed + board.passed, 0u);
  EXPECT_EQ(board.score, 0);
  place->board().failed = 2;
  auto another = turn_place::take(name);
  EXPECT_EQ(board.failed, 2u) << "it is still somebody's";
  another.reset(), place.reset();
  EXPECT_FALSE(exists(name));
}

TEST(turn_place, is_not_kept_nor_given_back_by_a_child) {
  const std::string name = own_name();
  auto first = turn_place::take(name), second = turn_place::take(name);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  const pid_t ends = fork();
  if (ends == 0) second.reset(), first.reset(), _exit(0);
  waitpid(ends, nullptr, 0);
  EXPECT_TRUE(exists(name));
  EXPECT_NE(first->board().of[1].seen, 0);
  const pid_t stays = fork();
  if (stays == 0)
    for (;;) pause();
  first.reset();
  auto third = turn_place::take(name);
  EXPECT_TRUE(third != nullptr && third->number() == 1u);
  second.reset(), third.reset();
  EXPECT_FALSE(exists(name));
  kill(stays, SIGKILL), waitpid(stays, nullptr, 0);
  shm_unlink(name.c_str());
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
