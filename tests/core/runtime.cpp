// runtime: run() from anywhere and many at once, several runtimes, constructs outside of run(), how
// it computes, and exit() during a run.
#include "core/requests.hpp"

#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace cleave::tests {
namespace {

long count(int n) {
  if (n < 2) return 1;
  disturb(static_cast<std::uint64_t>(n), 5);
  auto [a, b] = both([=] { return count(n - 1); }, [=] { return count(n - 2); });
  return a + b;
}

class runtime_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(runtime_with);

TEST_P(runtime_with, gives_back_what_f_returns) {
  static int x = 4;
  EXPECT_EQ(rt.run([] { return 3; }), 3);
  EXPECT_EQ(rt.run([]() -> int& { return x; }), 4);
  EXPECT_EQ(rt.run([p = std::make_unique<int>(6)] { return std::to_string(*p); }), "6");
  static_assert(std::is_void_v<decltype(rt.run([] {}))>);
}

/// Only a runtime that checks has a worker of its own do it.
TEST_P(runtime_with, runs_on_the_calling_thread) {
  const auto caller = std::this_thread::get_id();
  const bool checks = rt.run([] { return detail::is_checked(); });
  rt.run([caller, checks] {
    EXPECT_NE(detail::here.self, nullptr);
    EXPECT_EQ(std::this_thread::get_id() == caller, !checks);
  });
  EXPECT_EQ(detail::here.self, nullptr);
}

TEST_P(runtime_with, many_runs_one_after_another) {
  for (int k = 0; k < 500; ++k) ASSERT_EQ(rt.run([k] { return k; }), k);
}

TEST_P(runtime_with, runs_from_several_threads_at_once) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([this, t] {
      for (int k = 0; k < 20; ++k) {
        EXPECT_EQ(rt.run([] { return count(12); }), 233);
        EXPECT_THROW(rt.run([t] { both([] { force_split(); }, [t] { throw t; }); }), int);
      }
    });
  }
  for (auto& t : threads) t.join();
}

TEST_P(runtime_with, a_runtime_inside_a_runtime) {
  EXPECT_EQ(rt.run([] {
    return sum(0, 4, [](int) {
      runtime inner(options{.workers = 2, .stack_bytes = std::size_t{4} << 20});
      return inner.run([] { return count(10); });
    });
  }),
            4 * 89);
}

TEST_P(runtime_with, two_runtimes_side_by_side) {
  runtime other(options{.workers = 2, .stack_bytes = std::size_t{4} << 20});
  EXPECT_EQ(rt.run([&other] {
    return sum(0, 20, [&other](int i) {
      disturb(static_cast<std::uint64_t>(i));
      return other.run([] { return count(8); });
    });
  }),
            20 * 34);
}

TEST(runtime_alone, gives_back_what_only_moves) {
  runtime rt(options{.workers = 2});
  EXPECT_EQ(*rt.run([] { return std::make_unique<int>(5); }), 5);
}

TEST(runtime_alone, can_be_made_and_dropped) {
  for (int k = 0; k < 100; ++k) runtime(options{.workers = 3, .stack_bytes = std::size_t{1} << 20});
  for (int k = 0; k < 100; ++k) {
    runtime rt(options{.workers = 4, .stack_bytes = std::size_t{1} << 20});
    ASSERT_EQ(rt.run([] { return count(6); }), 13);
  }
}

TEST(runtime_alone, counts_what_it_does) {
  runtime rt(options{.workers = 1});
  EXPECT_EQ(rt.workers(), 1);
  rt.run([] {
    sum(0, 100, [](int) {
      int w = 0;
      step s{[&w] { ++w; }, [&w] { --w; }};
      force_split();
      return 0;
    });
  });
  const counters s = rt.statistics();
  EXPECT_GT(s.splits, 50u);  // of every part too, down to single iterations
  EXPECT_GT(s.undone, 0u);
  EXPECT_LE(s.undone, s.splits);  // there is one step between a poll and its loop, or none
  EXPECT_GE(s.searched, s.splits);
  EXPECT_GE(s.deepest, 3u);
}

TEST(runtime_alone, several_workers_take_part) {
  runtime rt(options{.workers = 2});
  std::atomic<bool> other{false};
  rt.run([&other] {
    const auto self = std::this_thread::get_id();
    both(
        [&other] {
          while (!other) poll();
        },
        [&other, self] {
          EXPECT_NE(std::this_thread::get_id(), self);
          other = true;
        });
  });
  EXPECT_EQ(rt.statistics().splits, 1u);
}

/// Every worker is needed at once: each part waits for all others.
TEST(runtime_alone, all_workers_take_part) {
  runtime rt(options{.workers = 8});
  std::atomic<int> there{0};
  rt.run([&there] {
    each(0, 8, [&there](int) {
      ++there;
      while (there < 8) {
        std::this_thread::yield();
        poll();
      }
    });
  });
  EXPECT_EQ(there, 8);
}

TEST(outside_of_run, constructs_are_sequential) {
  runtime rt(options{.workers = 2});  // idle workers, who ask
  const auto self = std::this_thread::get_id();
  std::string order;
  both(
      [&order] {
        order += 'a';
        poll();
      },
      [&order] { order += 'b'; });
  each(0, 100, [&](int) {
    poll();
    EXPECT_EQ(std::this_thread::get_id(), self);
  });
  EXPECT_EQ(sum(0, 100,
                [](int i) {
                  poll();
                  return i;
                }),
            4950);
  int puts = 0;
  struct none {
    int run() { return 0; }
  };
  EXPECT_EQ(sum(
                0, 10,
                [](int) {
                  poll();
                  return 1;
                },
                [&puts](int, int) {
                  ++puts;
                  return none{};
                }),
            10);
  EXPECT_EQ(puts, 0);
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(count(10), 89);
  EXPECT_THROW(both([] { throw 1; }, [] {}), int);
  EXPECT_EQ(rt.statistics().splits, 0u);
}

TEST(outside_of_run, without_any_runtime) {
  std::thread([] { EXPECT_EQ(count(10), 89); }).join();
}

/// A worker of `one` waits for a task of `other`, which asks `one` for more.
TEST(runtime_alone, calls_one_that_waits_for_it) {
  runtime one(options{.workers = 1}), other(options{.workers = 1});
  EXPECT_THROW(one.run([&] { return other.run([&] { return one.run([] { return 1; }); }); }),
               std::logic_error);
  runtime two(options{.workers = 2});  // the second worker does it
  EXPECT_EQ(two.run([&] { return other.run([&] { return two.run([] { return 1; }); }); }), 1);
  EXPECT_EQ(one.run([&] { return other.run([] { return 2; }); }), 2);
}

// ---- the floating-point environment

/// What says how a thread computes.
struct computing {
  int rounding = std::fegetround();
  std::uint32_t flushes = flushes_to_zero();

#if defined(__x86_64__)
  static constexpr std::uint32_t flush_bits = 0x8040;  // and takes such operands as zeros
  static std::uint32_t flushes_to_zero() { return _mm_getcsr() & flush_bits; }
  void set() const {
    std::fesetround(rounding);
    _mm_setcsr((_mm_getcsr() & ~flush_bits) | flushes);
  }
#elif defined(__aarch64__)
  static constexpr std::uint32_t flush_bits = 1U << 24;
  static std::uint64_t control() {
    std::uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static std::uint32_t flushes_to_zero() {
    return static_cast<std::uint32_t>(control()) & flush_bits;
  }
  void set() const {
    std::fesetround(rounding);
    asm volatile("msr fpcr, %0" : : "r"((control() & ~std::uint64_t{flush_bits}) | flushes));
  }
#else
  static constexpr std::uint32_t flush_bits = 0;
  static std::uint32_t flushes_to_zero() { return 0; }
  void set() const { std::fesetround(rounding); }
#endif
  bool is_so_here() const {
    const volatile double one = 1, three = 3;
    const double third = rounding == FE_UPWARD ? 0x1.5555555555556p-2 : 0x1.5555555555555p-2;
#if defined(__x86_64__)
    const volatile long double two = 2, nine = 9;
    const bool above = two / nine * nine > two;  // the other unit
#else
    const bool above = rounding == FE_UPWARD;
#endif
    return one / three == third && above == (rounding == FE_UPWARD) &&
           std::fegetround() == rounding && flushes_to_zero() == flushes;
  }
};

/// All workers at once: each iteration waits for all others.
int not_computed_so(int workers, const computing& expected) {
  std::atomic<int> there{0}, wrong{0};
  each(0, workers, [&](int) {
    wrong += !expected.is_so_here();
    for (++there; there < workers; std::this_thread::yield()) poll();
    wrong += !expected.is_so_here();
  });
  return wrong;
}

TEST_P(runtime_with, computes_as_the_caller_does) {
  const int workers = rt.workers();
  runtime other(options{.workers = 2, .stack_bytes = std::size_t{4} << 20});
  const computing usual, upward{FE_UPWARD, computing::flush_bits & ~usual.flushes};
  ASSERT_TRUE(usual.is_so_here());
  for (const computing& chosen : {usual, upward, usual}) {
    chosen.set();
    std::atomic<int> wrong{0};
    rt.run([&] {
      wrong += not_computed_so(workers, chosen);
      task_group g;
      for (int i = 0; i < 20; ++i)
        g.spawn([&, i] {
          wrong += !chosen.is_so_here();
          disturb(static_cast<std::uint64_t>(i));
        });
      wrong += other.run([&] { return not_computed_so(2, chosen); });
      g.wait();
      graph subtasks;
      auto x = subtasks.make(0);
      for (int i = 0; i < 20; ++i)
        subtasks.run([&](int& n) { n += !chosen.is_so_here(); }, inout(x));
      subtasks.wait();
      wrong += *x;
      wrong += !chosen.is_so_here();
    });
    EXPECT_TRUE(chosen.is_so_here());
    usual.set();
    EXPECT_EQ(wrong, 0);
  }
}

/// Those that compute for two callers at once.
TEST(runtime_alone, computes_as_each_of_its_callers_does) {
  runtime rt(options{.workers = 4});
  const computing usual, upward{FE_UPWARD, 0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (const computing& chosen : {usual, upward})
    threads.emplace_back([&rt, &wrong, chosen] {
      chosen.set();
      for (int k = 0; k < 50; ++k)
        rt.run([&] {
          each(0, 50, [&](int i) {
            disturb(static_cast<std::uint64_t>(i));
            wrong += !chosen.is_so_here();
          });
        });
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

/// A part computes as its owner does then, and whoever runs it computes as before afterwards.
TEST_P(runtime_with, parts_compute_as_their_owner_does) {
  const int workers = rt.workers();
  const computing usual, upward{FE_UPWARD, 0};
  rt.run([&] {
    upward.set();
    EXPECT_EQ(not_computed_so(workers, upward), 0);
    usual.set();
    EXPECT_EQ(not_computed_so(workers, usual), 0);
    upward.set();
    auto [here, there] = both([&] { return not_computed_so(1, upward); },
                              [&] { return not_computed_so(1, upward); });
    EXPECT_EQ(here + there, 0);
  });
  EXPECT_EQ(rt.run([&] { return not_computed_so(workers, usual); }), 0);
}

/// At a join a worker runs a part that computes otherwise than its own task by then.
TEST(runtime_alone, who_has_helped_computes_as_before) {
  runtime rt(options{.workers = 2});
  const computing usual, upward{FE_UPWARD, 0};
  rt.run([&] {
    std::atomic<bool> taken{false};
    upward.set();
    const auto [mine, others] = both(
        [&] {
          while (!taken) poll();
          usual.set();
        },
        [&] {
          taken = true;
          return not_computed_so(2, upward);  // needs both workers
        });
    EXPECT_EQ(others, 0);
    EXPECT_TRUE(usual.is_so_here());
  });
}

// ---- the end of the process

/// What is in a buffer when the process ends is written, if it ends as usual.
void say_later(const char* what) {
  static char buffer[1000];
  std::setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
  std::fputs(what, stderr);
}

std::optional<runtime> of_static_storage;  // destroyed after what a function has made static

class exit_with : public testing::TestWithParam<int> {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static options given() { return {.workers = GetParam(), .stack_bytes = std::size_t{4} << 20}; }
  static runtime& of_a_function() {
    static runtime rt(given());
    return rt;
  }
  static runtime& of_the_program() {
    if (!of_static_storage) of_static_storage.emplace(given());
    return *of_static_storage;
  }
  /// In the middle of a loop that all workers have a part in.
  static void give_up(int status) {
    each(0, 1000, [status](int i) {
      if (i == 500) {
        say_later("gave up");
        std::exit(status);
      }
      poll();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(workers, exit_with, testing::Values(1, 2, 8));

TEST_P(exit_with, in_a_loop) {
  EXPECT_EXIT(of_a_function().run([] { give_up(3); }), testing::ExitedWithCode(3), "gave up");
  EXPECT_EXIT(of_the_program().run([] { give_up(4); }), testing::ExitedWithCode(4), "gave up");
}

TEST_P(exit_with, in_a_task_of_a_group) {
  EXPECT_EXIT(of_a_function().run([] {
    task_group g;
    for (int i = 0; i < 20; ++i)
      g.spawn([i] {
        if (i == 7) give_up(5);  // one of them: C++ lets exit() be called by one thread at a time
      });
    g.wait();
  }),
              testing::ExitedWithCode(5), "gave up");
}

TEST_P(exit_with, in_a_subtask) {
  EXPECT_EXIT(of_the_program().run([] {
    graph g;
    auto x = g.make(0);
    g.run([](int&) { give_up(6); }, inout(x));
    g.wait();
  }),
              testing::ExitedWithCode(6), "gave up");
}

TEST_P(exit_with, while_another_thread_runs) {
  const auto leave = [](runtime& rt) {
    std::atomic<bool> runs{false};
    std::thread([&] {
      rt.run([&] {
        each(0, 1000, [&](int) {
          runs = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
      });
    }).detach();
    while (!runs) std::this_thread::yield();
    say_later("left");
    std::exit(7);  // as main does
  };
  EXPECT_EXIT(leave(of_a_function()), testing::ExitedWithCode(7), "left");
  EXPECT_EXIT(leave(of_the_program()), testing::ExitedWithCode(7), "left");
}

TEST_P(exit_with, quickly) {
  EXPECT_EXIT(of_a_function().run([] {
    each(0, 1000, [](int i) {
      if (i == 500) std::quick_exit(8);
      poll();
    });
  }),
              testing::ExitedWithCode(8), "");
}

TEST_P(exit_with, a_trace_that_cannot_be_finished) {
  const std::string file = testing::TempDir() + "exit_in_a_task.trace";
  const auto traced = [&file] {
    auto o = given();
    o.trace = file;
    of_static_storage.emplace(o);
    of_static_storage->run([] { give_up(9); });
  };
  EXPECT_EXIT(traced(), testing::ExitedWithCode(9), "no trace is written");
}

}  // namespace
}  // namespace cleave::tests
