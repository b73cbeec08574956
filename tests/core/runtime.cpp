// runtime: run() from anywhere and many at once, several runtimes, constructs outside of run().
#include "core/requests.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

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

TEST_P(runtime_with, runs_on_a_worker) {
  const auto here = std::this_thread::get_id();
  rt.run([here] { EXPECT_NE(std::this_thread::get_id(), here); });
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

}  // namespace
}  // namespace cleave::tests
