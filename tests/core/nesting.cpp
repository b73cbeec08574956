// Loops in loops in loops, steps in loops, every construct in every other; exactly once.
#include "core/requests.hpp"

#include <array>

namespace cleave::tests {
namespace {

class nesting_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(nesting_with);

TEST_P(nesting_with, three_loops_by_value) {
  constexpr int n = 17;
  ledger done(n * n * n);
  const long total = rt.run([&done] {
    return sum(0, n, [&done](int x) {
      return sum(0, n, [&done, x](int y) {
        return sum(0, n, [&done, x, y](int z) {
          const int item = (x * n + y) * n + z;
          done.enter(static_cast<std::size_t>(item));
          disturb(static_cast<std::uint64_t>(item), 7);
          return long{item};
        });
      });
    });
  });
  EXPECT_EQ(total, long{n * n * n} * (n * n * n - 1) / 2);
  EXPECT_EQ(done.wrong(times()), 0u);
}

/// Three loops over one array, whose cells the steps of all three change.
struct cube {
  std::array<int, 3> at;
  int level, from, to;
  ledger* done;
  long run() { return over(at, level, from, to, *done); }
  static constexpr int n = 11;
  static long over(std::array<int, 3>& at, int level, int from, int to, ledger& done) {
    return sum(
        from, to,
        [&at, level, &done](int i) -> long {
          const auto l = static_cast<std::size_t>(level);
          const int before = at[l];
          step go{[&at, l, i] { at[l] = i; }, [&at, l, before] { at[l] = before; }};
          disturb(static_cast<std::uint64_t>(i * 3 + level), 5);
          if (level < 2) return over(at, level + 1, 0, n, done);
          done.enter(static_cast<std::size_t>((at[0] * n + at[1]) * n + at[2]));
          return 1;
        },
        [&at, level, &done](int f, int t) {
          return cube{at, level, f, t, &done};
        });
  }
};

TEST_P(nesting_with, three_loops_with_steps) {
  ledger done(cube::n * cube::n * cube::n);
  EXPECT_EQ(rt.run([&done] {
    std::array<int, 3> at{-1, -1, -1};
    const long n = cube::over(at, 0, 0, cube::n, done);
    EXPECT_EQ(at, (std::array<int, 3>{-1, -1, -1}));
    return n;
  }),
            cube::n * cube::n * cube::n);
  EXPECT_EQ(done.wrong(times()), 0u);
}

long down(ledger& done, std::size_t from, std::size_t to, int kind) {
  disturb(from * 7 + to, 6);
  if (to - from == 1) {
    done.enter(from);
    return 1;
  }
  const std::size_t half = from + (to - from) / 2;
  const int next = (kind + 1) % 4;
  switch (kind) {
    case 0: {
      auto [a, b] = both([=, &done] { return down(done, from, half, next); },
                         [=, &done] { return down(done, half, to, next); });
      return a + b;
    }
    case 1: {
      std::atomic<long> n{0};
      task_group g;
      g.spawn([&] { n += down(done, from, half, next); });
      g.spawn([&] { n += down(done, half, to, next); });
      g.wait();
      return n;
    }
    case 2:
      return sum(0, 2, [=, &done](int i) {
        return down(done, i == 0 ? from : half, i == 0 ? half : to, next);
      });
    default: {
      cancel_scope s;
      return *s.run([&] {
        return reduce(
            0, 2, 0L,
            [=, &done](int i) {
              return down(done, i == 0 ? from : half, i == 0 ? half : to, next);
            },
            std::plus<>());
      });
    }
  }
}

TEST_P(nesting_with, both_group_loop_and_scope_in_turn) {
  for (int kind = 0; kind < 4; ++kind) {
    ledger done(3000);
    EXPECT_EQ(rt.run([&done, kind] { return down(done, 0, 3000, kind); }), 3000);
    EXPECT_EQ(done.wrong(times()), 0u);
  }
}

TEST_P(nesting_with, run_in_run_of_the_same_runtime) {
  EXPECT_EQ(rt.run([this] {
    return sum(0, 50, [this](int i) {
      return rt.run([i] {
        force_split();
        return i;
      });
    });
  }),
            1225);
}

TEST(exactly_once, with_many_more_workers_than_cpus) {
  runtime rt(options{.workers = 48, .stack_bytes = std::size_t{16} << 20});
  for (int k = 0; k < 20; ++k) {
    ledger done(4000);
    EXPECT_EQ(rt.run([&done, k] { return down(done, 0, 4000, k % 4); }), 4000);
    ASSERT_EQ(done.wrong(), 0u);
  }
}

TEST(exactly_once, without_any_disturbance) {
  runtime rt(options{.workers = 4});
  for (int k = 0; k < 300; ++k) {
    ledger done(2000);
    rt.run([&done] {
      each(0, 2000, [&done](int i) {
        done.enter(static_cast<std::size_t>(i));
        poll();
      });
    });
    ASSERT_EQ(done.wrong(), 0u);
  }
}

}  // namespace
}  // namespace cleave::tests
