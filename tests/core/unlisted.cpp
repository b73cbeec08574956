// Steps that are on no list: while one is done, no older frame is given, whatever the addresses on
// the stack.
#include "core/requests.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace cleave::tests {
namespace {

std::atomic<long> wrong{0}, puts{0};

struct workspace {
  long x = 0;
  void check(long path) const {
    ++puts;
    wrong += x != path;
  }
};

/// Takes as long as the leaf of a search does: short while the cutoff is learnt, long afterwards.
std::atomic<long> leaf{0};
long work() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(leaf);
  while (std::chrono::steady_clock::now() < end) {}
  return 1;
}

/// Short calls first, until that is learnt; then the same are long.
template <class F>
auto learn_then_run(runtime& rt, int rounds, F f) {
  return rt.run([=] {
    leaf = 0;
    for (int i = 0; i < rounds; ++i) f();
    leaf = 20000;
    return f();
  });
}

// ---- a loop's wind after a call with arguments on the stack, which GCC pops at the next jump only

[[gnu::noinline]] long with_stack_arguments(long, long, long, long, long, long, long, long) {
  return 0;
}

long after_arguments(workspace& w, int n, long path, bool winds);
struct after_arguments_piece {
  workspace w;
  int n;
  long path;
  bool winds;
  long run() { return after_arguments(w, n, path, winds); }
};
[[gnu::noinline]] long after_arguments(workspace& w, int n, long path, bool winds) {
  if (n == 0) return work();
  auto search = [&w, n](long here) {
    auto [a, b] = both([=, &w] { return after_arguments(w, n - 1, here, true); },
                       [=, &w] { return after_arguments(w, n - 1, here, false); },
                       [=, &w] {
                         w.check(here);
                         return after_arguments_piece{w, n - 1, here, false};
                       });
    return a + b;
  };
  if (!winds) return search(path);
  with_stack_arguments(1, 2, 3, 4, 5, 6, 7, n);
  return sum(
      0, 1,
      [=, &w](int, long& total, auto wind) {
        total +=
            wind([=, &w] { w.x += n; }, [=] { return search(path + n); }, [=, &w] { w.x -= n; });
      },
      [=, &w](int, int) {
        return after_arguments_piece{w, n, path, winds};
      });
}

// ---- a loop's wind called in a construct of the loop's body

long inner_construct(workspace& w, int n, long path);
struct inner_construct_piece {
  workspace w;
  int n;
  long path;
  int from, to;
  long run();
};
long inner_loop(workspace& w, int n, long path, int from, int to) {
  auto put = [=, &w](int f, int t) {
    w.check(path);
    return inner_construct_piece{w, n, path, f, t};
  };
  return sum(
      from, to,
      [=, &w](int i, long& total, auto wind) {
        auto one = [=, &w](long by) {
          return wind([=, &w] { w.x += by; },
                      [=, &w] { return inner_construct(w, n - 1, path + by); },
                      [=, &w] { w.x -= by; });
        };
        auto [a, b] = both([=] { return one(10 * n + i + 1); }, [=] { return one(20 * n + i + 1); },
                           [=, &w] {
                             w.check(path);
                             return inner_construct_piece{w, n - 1, path + 20 * n + i + 1, 0, -1};
                           });
        total += a + b;
      },
      put);
}
long inner_construct_piece::run() {
  if (to >= 0) return inner_loop(w, n, path, from, to);
  w.x = path;
  return inner_construct(w, n, path);
}
long inner_construct(workspace& w, int n, long path) {
  return n == 0 ? work() : inner_loop(w, n, path, 0, 2);
}

/// Rounds of each program until the time is up: more of them in a soak.
template <class F>
void for_a_while(F round) {
  const bool soak = std::getenv("CLEAVE_SOAK") != nullptr;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(soak ? 30 : 2);
  wrong = puts = 0;
  do { round(); } while (std::chrono::steady_clock::now() < end && !testing::Test::HasFailure());
  EXPECT_EQ(wrong, 0) << "of " << puts << " puts";
}

TEST(unlisted_steps, after_a_call_with_arguments_on_the_stack) {
  for (int workers : {2, 8}) {
    runtime rt(options{.workers = workers});
    for_a_while([&] {
      ASSERT_EQ(rt.run([] {
        leaf = 500;
        workspace w;
        return after_arguments(w, 12, 0, false);
      }),
                1 << 12);
    });
    EXPECT_GT(puts, 0);
  }
}

TEST(unlisted_steps, of_a_wind_in_a_construct_of_the_body) {
  for (int workers : {2, 8}) {
    runtime rt(options{.workers = workers});
    for_a_while([&] {
      ASSERT_EQ(learn_then_run(rt, 600,
                               [] {
                                 workspace w;
                                 return inner_construct(w, 5, 0);
                               }),
                1 << 10);
    });
    EXPECT_GT(puts, 0);
  }
}

// ---- they are counted

/// On this thread, which is no worker, all is undivided.
TEST(unlisted_steps, are_counted_while_they_are_done) {
  const auto put = [](int, int) { return after_arguments_piece{}; };
  const auto nothing = [] {};
  std::uint32_t seen = 0;
  const auto look = [&seen] {
    seen = detail::here.unlisted;
    return 0L;
  };
  const auto counted_in = [&seen](auto loop) {
    loop();
    EXPECT_EQ(detail::here.unlisted, 0u);
    return std::exchange(seen, 0);
  };
  const auto winds = [=](int, auto wind) { return wind(nothing, look, nothing); };
  EXPECT_EQ(counted_in([=] { each(0, 1, winds, put, [](long) {}); }), 1u);
  EXPECT_EQ(counted_in([=] { reduce(0, 1, 0L, winds, std::plus<>(), put); }), 1u);
  const auto adds = [=](int, long& total, auto wind) { total += wind(nothing, look, nothing); };
  EXPECT_EQ(counted_in([=] { sum(0, 1, adds, put); }), 1u);
  const auto twice = [=](int, long& total, auto wind) {
    total += wind(
        nothing, [=] { return wind(nothing, look, nothing); }, nothing);
  };
  EXPECT_EQ(counted_in([=] { sum(0, 1, twice, put); }), 2u);
  const auto throws = [=](int, long& total, auto wind) {
    total += wind(
        nothing, []() -> long { throw 1; }, nothing);
  };
  EXPECT_THROW(sum(0, 1, throws, put), int);
  EXPECT_EQ(detail::here.unlisted, 0u);
}

}  // namespace
}  // namespace cleave::tests
