// Where a `both` is too short to be divided: what is learnt, and that a wrong guess is noticed.
#include "core/cutoff.hpp"

#include "core/requests.hpp"

#include <cleave/detail/pace.hpp>

#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace cleave::tests {
namespace {

using cutoff = detail::cutoff_learner;

/// A program as the learner sees it: a binary tree whose halves take half as long, 100 bytes of stack a level.
struct simulated {
  static constexpr double leaf = 0.01;  // microseconds

  cutoff learnt;
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

TEST(cutoff, is_learnt) {
  simulated program;
  program.tree(0, 22);
  // A subtree of k levels takes 2^k / 100 microseconds: the smallest of more than 16 has 11.
  EXPECT_GE(program.learnt.depth(), simulated::depth(22 - 11));
  EXPECT_LE(program.learnt.depth(), simulated::depth(22 - 9));
}

TEST(cutoff, is_learnt_in_spite_of_preemptions) {
  simulated program;
  program.preempted_every = 400;
  program.tree(0, 22);
  EXPECT_GE(program.learnt.depth(), simulated::depth(22 - 11));
  EXPECT_LE(program.learnt.depth(), simulated::depth(22 - 8));
}

TEST(cutoff, follows_the_program) {
  simulated program;
  program.tree(0, 20);
  const std::size_t before = program.learnt.depth();
  program.tree(0, 25);
  EXPECT_GE(program.learnt.depth(), before + 400);
  for (int k = 0; k < 40; ++k) program.tree(0, 20);
  EXPECT_LE(program.learnt.depth(), before + 100);
}

TEST(cutoff, is_not_learnt_where_nothing_short_is_below) {
  cutoff learnt;
  const std::uint64_t long_time = 100 * detail::ticks_per_microsecond();
  for (std::uint64_t now = 1, i = 0; i < 1000; ++i, now += long_time)
    learnt.add(100, now, now + long_time, true);
  EXPECT_FALSE(learnt.learnt());
}

TEST(cutoff, is_deeper_than_polls_that_cannot_serve) {
  simulated program;
  program.tree(0, 22);
  const std::size_t deep = program.learnt.depth() + 50;
  program.learnt.add_poll(deep);
  EXPECT_EQ(program.learnt.depth(), deep);
  program.tree(0, 22);  // and stays so
  EXPECT_GE(program.learnt.depth(), deep);
}

TEST(cutoff, is_forgotten_when_undivided_constructs_take_long) {
  simulated program;
  program.tree(0, 20);
  ASSERT_NE(program.learnt.depth(), cutoff::none);
  const std::uint64_t millisecond = 1000 * detail::ticks_per_microsecond();
  int needed = 0;
  while (program.learnt.depth() != cutoff::none && needed < 100) {
    program.learnt.add(100, program.now, program.now + millisecond, true);
    ++needed;
  }
  EXPECT_LE(needed, 8);
}

TEST(cutoff, is_forgotten_when_a_piece_from_beyond_takes_long) {
  simulated program;
  program.tree(0, 20);
  const std::size_t learnt = program.learnt.depth();
  const std::uint64_t microsecond = detail::ticks_per_microsecond();
  program.learnt.add_piece(learnt, 10'000 * microsecond);
  program.learnt.add_piece(learnt + 1, 10 * microsecond);
  EXPECT_EQ(program.learnt.depth(), learnt);
  program.learnt.add_piece(learnt + 1, 1000 * microsecond);
  EXPECT_EQ(program.learnt.depth(), cutoff::none);
}

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

TEST(cutoff, learnt_by_every_worker_and_answers_the_same) {
  for (int workers : {1, 2, 8}) {
    runtime rt(options{.workers = workers});
    for (int k = 0; k < 3; ++k) EXPECT_EQ(rt.run([] { return fib(34); }), 5702887);
  }
}

/// The bottom of a recursion, which is a few instructions or long, depending on the phase.
long spin_or_not(bool spin) {
  if (!spin) return 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
  while (std::chrono::steady_clock::now() < end) {}
  return 1;
}
long tree(int levels, bool spin) {
  if (levels == 0) return spin_or_not(spin);
  auto [x, y] =
      both([=] { return tree(levels - 1, spin); }, [=] { return tree(levels - 1, spin); });
  return x + y;
}

TEST(cutoff, a_wrong_guess_is_noticed) {
  runtime rt(options{.workers = 2});
  for (int k = 0; k < 2; ++k) {
    // Short calls for long enough to learn that these depths are not worth dividing.
    EXPECT_EQ(rt.run([] {
      long n = 0;
      for (int i = 0; i < 20'000; ++i) n += tree(8, false);
      return n;
    }),
              20'000 * 256);
    // Now the same depths are: 256 times 0.3 ms.
    const auto before = rt.statistics().splits;
    EXPECT_EQ(rt.run([] { return tree(8, true); }), 256);
    EXPECT_GT(rt.statistics().splits, before);
  }
}

TEST(cutoff, a_cancellation_reaches_undivided_calls) {
  runtime rt(options{.workers = 2});
  auto cancelled_in_time = [] {
    cancel_scope search;
    std::thread later([&search] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      search.cancel();
    });
    const bool finished = search.run([] { return fib(90); }).has_value();
    later.join();
    return !finished;
  };
  EXPECT_TRUE(rt.run(cancelled_in_time));
  EXPECT_TRUE(cancelled_in_time());  // on a thread that is no worker
  EXPECT_TRUE(cancelled_in_time());
}

/// A walk through a tree whose workspace is the path from the root. Marked in a different way on each level.
struct walk {
  static constexpr int levels = 7, width = 6;
  std::vector<int> path;

  static std::uint64_t hash(std::uint64_t before, int i) {
    return mix(before + static_cast<unsigned>(i));
  }
  bool is(std::uint64_t expected) const {
    std::uint64_t h = 0;
    for (int i : path) h = hash(h, i);
    return h == expected;
  }
};

constexpr int any_kind = -1;

struct rules {
  ledger* leaves;
  std::atomic<int>* wrong;
  int spin;  // polls at a leaf
  int kind;  // of step: that of a level of the walk, or any_kind: another on each level
};

long below(const rules& by, walk& w, int level, int from, int to, std::size_t id, std::uint64_t h);

struct part_of_walk {
  rules by;
  walk w;
  int level, from, to;
  std::size_t id;
  std::uint64_t h;
  long run() { return below(by, w, level, from, to, id, h); }
};

long node(const rules& by, walk& w, int level, std::size_t id, std::uint64_t h) {
  if (level < walk::levels) return below(by, w, level, 0, walk::width, id, h);
  if (!w.is(h)) ++*by.wrong;
  by.leaves->enter(id);
  for (int i = 0; i < by.spin; ++i) poll();
  return 1;
}

/// Leaves below children from to to - 1; `id` numbers the node, `h` is the hash of its path.
long below(const rules& by, walk& w, int level, int from, int to, std::size_t id, std::uint64_t h) {
  auto put = [=, &w, &by](int f, int t) {
    if (!w.is(h)) ++*by.wrong;  // the workspace as it was here
    return part_of_walk{by, w, level, f, t, id, h};
  };
  auto child = [=, &w, &by](int i) {
    return node(by, w, level + 1, id * walk::width + static_cast<unsigned>(i), walk::hash(h, i));
  };
  auto push = [&w](int i) { w.path.push_back(i); };
  auto pop = [&w] { w.path.pop_back(); };
  switch (by.kind == any_kind ? level % 4 : by.kind) {
    case 0:
      return sum(
          from, to,
          [=](int i) {
            step made{[=] { push(i); }, pop};
            return child(i);
          },
          put);
    case 1:
      return sum(
          from, to,
          [=](int i, long& leaves) {
            leaves += dynamic_wind([=] { push(i); }, [=] { return child(i); }, pop);
          },
          put);
    case 2:
      return sum(
          from, to,
          [=](int i, long& leaves, auto wind) {
            leaves += wind([=] { push(i); }, [=] { return child(i); }, pop);
          },
          put);
    default: {
      if (to - from == 1) {
        step made{[=] { push(from); }, pop};
        return child(from);
      }
      const int half = (from + to) / 2;
      auto [x, y] = both([=, &w, &by] { return below(by, w, level, from, half, id, h); },
                         [=, &w, &by] { return below(by, w, level, half, to, id, h); },
                         [=] { return put(half, to); });
      return x + y;
    }
  }
}

constexpr long power(long base, int n) { return n == 0 ? 1 : base * power(base, n - 1); }

TEST(cutoff, steps_of_undivided_constructs) {
  constexpr long all = power(walk::width, walk::levels);
  for (int workers : {1, 2, 3, 8}) {
    runtime rt(options{.workers = workers});
    for (const auto& with : {std::pair{0, any_kind},
                             {30, any_kind},
                             {0, any_kind},
                             {30, 1},
                             {60, 1},
                             {30, 2},
                             {60, 2}}) {
      const int spin = with.first, kind = with.second;
      ledger leaves(all);
      std::atomic<int> wrong{0};
      const rules by{&leaves, &wrong, spin, kind};
      EXPECT_EQ(rt.run([&] {
        walk w;
        // First from the last level but one, again and again: all of that will be taken for short.
        std::atomic<int> ignored{0};
        ledger unused(power(walk::width, 2));
        const rules shallow{&unused, &ignored, 0, kind};
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        for (int k = 0; k < 20'000 && std::chrono::steady_clock::now() < end; ++k)
          below(shallow, w, walk::levels - 2, 0, walk::width, 0, 0);
        EXPECT_EQ(ignored, 0);
        return below(by, w, 0, 0, walk::width, 0, 0);
      }),
                all);
      EXPECT_EQ(leaves.wrong(), 0u) << workers << " workers";
      EXPECT_EQ(wrong, 0) << workers << " workers";
    }
  }
}

/// Otherwise a poll would divide what is older than the step. On this thread, which is no worker, all is undivided.
TEST(cutoff, who_makes_a_step_undivided_says_so) {
  const auto put = [](int from, int to) { return part_of_walk{{}, {}, 0, from, to, 0, 0}; };
  const auto nothing = [] {};
  int seen = 0;
  const auto look = [&seen] {
    seen += detail::here.stepped ? 1 : 0;
    return 0L;
  };
  const auto said_in = [&seen](auto loop) {
    detail::here.stepped = false;
    loop();
    return std::exchange(seen, 0) == 1;
  };
  EXPECT_TRUE(said_in([=] { dynamic_wind(nothing, look, nothing); }));
  const auto winds = [=](int, auto wind) { return wind(nothing, look, nothing); };
  EXPECT_TRUE(said_in([=] { each(0, 1, winds, put, [](long) {}); }));
  EXPECT_TRUE(said_in([=] { reduce(0, 1, 0L, winds, std::plus<>(), put); }));
  const auto adds = [=](int, long& total, auto wind) { total += wind(nothing, look, nothing); };
  EXPECT_TRUE(said_in([=] { sum(0, 1, adds, put); }));
  detail::here.stepped = false;
}

/// x -> a x + b: composition is associative, and not commutative.
struct affine {
  std::uint64_t a = 1, b = 0;
  friend affine operator*(affine f, affine g) { return {f.a * g.a, f.b * g.a + g.b}; }
  friend bool operator==(affine, affine) = default;
};

/// A tree of loops without a put, in turn each, sum and reduce.
affine spread(ledger* leaves, int level, std::size_t id) {
  constexpr int width = 7;
  auto child = [=](int i) {
    return spread(leaves, level - 1, id * width + static_cast<unsigned>(i));
  };
  if (level == 0) {
    leaves->enter(id);
    return {2 * mix(id) + 1, mix(id + 1)};
  }
  auto compose = [=] {
    return reduce(0, width, affine{}, child, [](affine f, affine g) { return f * g; });
  };
  if (level % 3 == 0) {
    affine all[width];
    each(0, width, [&all, child](int i) { all[i] = child(i); });
    affine product;
    for (const affine& f : all) product = product * f;
    return product;
  }
  if (level % 3 == 1) {
    const std::uint64_t n = sum(0, 2, [=](int i) { return i == 0 ? compose().a : 1; });
    return {n | 1, n};
  }
  return compose();
}

/// Iterations that begin with first(), wait for each other, by polls, and then enter many short constructs: from those the
/// worker learns a cutoff, and does not know in the polls whether one of them is under way. Returns how often of 60 times
/// an iteration waited for so long in vain.
template <class First>
int waits_in_vain(First first, std::chrono::milliseconds patience) {
  runtime rt(options{.workers = 2});
  int alone = 0;
  for (int k = 0; k < 60; ++k) {
    std::atomic<int> here{0};
    std::atomic<bool> together{true};
    rt.run([&] {
      each(0, 2, [&](int) {
        first();
        ++here;
        const auto give_up = std::chrono::steady_clock::now() + patience;
        while (here != 2 && together) {
          poll();
          if (std::chrono::steady_clock::now() > give_up) together = false;
        }
        for (int i = 0; i < 20'000; ++i) both([] {}, [] {});
      });
    });
    alone += together ? 0 : 1;
  }
  return alone;
}

/// As no step is under way, it does not matter.
TEST(cutoff, long_iterations_with_polls_are_given_away) {
  EXPECT_EQ(waits_in_vain([] {}, std::chrono::seconds(2)), 0);
}

/// With a step the cutoff has to move first: until both workers have noticed.
TEST(cutoff, long_iterations_with_polls_and_steps_are_given_away) {
  const auto step = [] {
    int value = 0;
    dynamic_wind([&value] { ++value; }, [] { both([] {}, [] {}); }, [&value] { --value; });
  };
  EXPECT_LE(waits_in_vain(step, std::chrono::milliseconds(200)), 10);
}

TEST(cutoff, loops_without_a_put) {
  constexpr long all = power(7, 6);
  ledger once(all);
  const affine expected = spread(&once, 6, 0);  // outside of run: sequential
  for (int workers : {1, 2, 8}) {
    runtime rt(options{.workers = workers});
    for (int k = 0; k < 20; ++k) {
      ledger leaves(all);
      EXPECT_EQ(rt.run([&leaves] { return spread(&leaves, 6, 0); }), expected);
      EXPECT_EQ(leaves.wrong(), 0u) << workers << " workers";
    }
  }
}

long throws_at(int n, int bottom) {
  if (n == bottom) throw std::runtime_error("bottom");
  if (n < 2) return n;
  auto [x, y] =
      both([=] { return throws_at(n - 1, -1); }, [=] { return throws_at(n - 2, bottom); });
  return x + y;
}

TEST(cutoff, an_exception_passes_undivided_calls) {
  runtime rt(options{.workers = 2});
  rt.run([] { return fib(32); });
  for (int bottom : {20, 10, 0}) {
    EXPECT_THROW(rt.run([=] { return throws_at(32, bottom); }), std::runtime_error);
  }
  EXPECT_EQ(rt.run([] { return fib(20); }), 6765);
}

TEST(cutoff, can_be_turned_off) {
  runtime rt(options{.workers = 1, .cutoff = false});
  EXPECT_EQ(rt.run([] {
    fib(30);
    return detail::here.cutoff.load();
  }),
            0u);
  runtime learns(options{.workers = 1});
  EXPECT_NE(learns.run([] {
    fib(30);
    return detail::here.cutoff.load();
  }),
            0u);
}

}  // namespace
}  // namespace cleave::tests
