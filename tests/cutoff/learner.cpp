// What is learnt of how deep on the stack calls are short, and that a wrong guess is noticed.
#include "cutoff/learner.hpp"

#include <gtest/gtest.h>
#include <cleave/detail/clock.hpp>

#include <cmath>

namespace cleave::tests {
namespace {

using detail::cutoff_learner;

/// A program as the learner sees it: a binary tree whose halves take half as long, 100 bytes of
/// stack a level.
struct simulated {
  static constexpr double leaf = 0.01;  // microseconds

  cutoff_learner learnt;
  std::uint64_t now = 1;
  unsigned until_timed = 1;
  unsigned preempted_every = ~0u, timed = 0;

  static std::size_t depth(int level) { return static_cast<std::size_t>(level) * 100; }
  void tree(int level, int levels) {
    const std::size_t at = depth(level);
    if (level == levels || at > learnt.depth()) {
      const double units = std::ldexp(1, levels - level);
      now += static_cast<std::uint64_t>(units * leaf *
                                        static_cast<double>(detail::ticks_per_microsecond()));
      return;
    }
    const bool is_timed = --until_timed == 0;
    const std::uint64_t since = now;
    if (is_timed) until_timed = learnt.until_next(now);
    const bool undivided = depth(level + 1) > learnt.depth();
    tree(level + 1, levels);
    tree(level + 1, levels);
    if (!is_timed) return;
    if (++timed % preempted_every == 0) now += 5000 * detail::ticks_per_microsecond();
    learnt.add(at, since, now, undivided);
  }
};

TEST(cutoff_learner, is_learnt) {
  simulated program;
  program.tree(0, 22);
  // A subtree of k levels takes 2^k / 100 microseconds: the smallest of more than 16 has 11.
  EXPECT_GE(program.learnt.depth(), simulated::depth(22 - 11));
  EXPECT_LE(program.learnt.depth(), simulated::depth(22 - 9));
}

TEST(cutoff_learner, is_learnt_in_spite_of_preemptions) {
  simulated program;
  program.preempted_every = 400;
  program.tree(0, 22);
  EXPECT_GE(program.learnt.depth(), simulated::depth(22 - 11));
  EXPECT_LE(program.learnt.depth(), simulated::depth(22 - 8));
}

TEST(cutoff_learner, follows_the_program) {
  simulated program;
  program.tree(0, 20);
  const std::size_t before = program.learnt.depth();
  program.tree(0, 25);
  EXPECT_GE(program.learnt.depth(), before + 400);
  for (int k = 0; k < 40; ++k) program.tree(0, 20);
  EXPECT_LE(program.learnt.depth(), before + 100);
}

/// Where nothing took long it may have been missed: what took long before counts once more.
TEST(cutoff_learner, forgets_long_ones_after_two_windows_without) {
  const std::uint64_t microsecond = detail::ticks_per_microsecond();
  cutoff_learner learnt;
  std::uint64_t now = 1;
  const auto run = [&](std::uint64_t milliseconds, bool long_ones) {
    for (const std::uint64_t end = now + 1000 * milliseconds * microsecond; now < end;) {
      for (const std::size_t depth : {100, 700, 1000}) {
        const std::uint64_t taken = (depth == 700 && long_ones ? 17 : 1) * microsecond;
        learnt.add(depth, now, now + taken, false);
        now += taken;
      }
    }
  };
  run(10, true);
  EXPECT_EQ(learnt.depth(), 700u);
  run(12, false);  // a window takes nine where nothing took long
  EXPECT_EQ(learnt.depth(), 700u);
  run(18, false);
  EXPECT_EQ(learnt.depth(), 100u);
}

TEST(cutoff_learner, is_not_learnt_where_nothing_short_is_below) {
  cutoff_learner learnt;
  const std::uint64_t long_time = 100 * detail::ticks_per_microsecond();
  for (std::uint64_t now = 1, i = 0; i < 1000; ++i, now += long_time)
    learnt.add(100, now, now + long_time, true);
  EXPECT_FALSE(learnt.learnt());
}

TEST(cutoff_learner, is_forgotten_when_undivided_constructs_take_long) {
  simulated program;
  program.tree(0, 20);
  ASSERT_NE(program.learnt.depth(), cutoff_learner::none);
  const std::uint64_t millisecond = 1000 * detail::ticks_per_microsecond();
  int needed = 0;
  while (program.learnt.depth() != cutoff_learner::none && needed < 100) {
    program.learnt.add(100, program.now, program.now + millisecond, true);
    ++needed;
  }
  EXPECT_LE(needed, 8);
}

TEST(cutoff_learner, is_forgotten_when_a_piece_from_beyond_takes_long) {
  simulated program;
  program.tree(0, 20);
  const std::size_t learnt = program.learnt.depth();
  const std::uint64_t microsecond = detail::ticks_per_microsecond();
  program.learnt.add_piece(learnt, 10'000 * microsecond);
  program.learnt.add_piece(learnt + 1, 10 * microsecond);
  EXPECT_EQ(program.learnt.depth(), learnt);
  program.learnt.add_piece(learnt + 1, 1000 * microsecond);
  EXPECT_EQ(program.learnt.depth(), cutoff_learner::none);
}

}  // namespace
}  // namespace cleave::tests
