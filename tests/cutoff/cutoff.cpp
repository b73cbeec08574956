// Constructs that are too short to be divided: programs give the same, and a wrong guess is
// noticed.
#include "core/requests.hpp"
#include "sanitized.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace cleave::tests {
namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

TEST(cutoff, learnt_by_every_worker_and_answers_the_same) {
  constexpr int n = sanitized ? 30 : 34;
  constexpr long value = sanitized ? 832'040 : 5'702'887;
  for (int workers : {1, 2, 8}) {
    runtime rt(options{.workers = workers});
    for (int k = 0; k < 3; ++k) EXPECT_EQ(rt.run([] { return fib(n); }), value);
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

/// A walk through a tree whose workspace is the path from the root. Marked in a different way on
/// each level.
struct walk {
  static constexpr int levels = sanitized ? 6 : 7, width = 6;
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
  switch (by.kind == any_kind ? level % 3 : by.kind) {
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
    for (const auto& with :
         {std::pair{0, any_kind}, {30, any_kind}, {0, any_kind}, {30, 1}, {60, 1}}) {
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

/// Iterations that begin with first(), wait for each other, by polls, and then enter many short
/// constructs: from those the worker learns a cutoff, and does not know in the polls whether one of
/// them is under way. Returns how often of 60 times an iteration waited for so long in vain.
template <class First>
int waits_in_vain(First first, std::chrono::milliseconds patience) {
  runtime rt(options{.workers = 2});
  int alone = 0;
  for (int k = 0; k < 60; ++k) {
    std::atomic<int> present{0};
    std::atomic<bool> together{true};
    rt.run([&] {
      each(0, 2, [&](int) {
        first();
        ++present;
        const auto give_up = std::chrono::steady_clock::now() + patience;
        while (present != 2 && together) {
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

/// Whatever undivided construct may be under way: no step is.
TEST(cutoff, long_iterations_with_polls_are_given_away) {
  EXPECT_EQ(waits_in_vain([] {}, std::chrono::seconds(2)), 0);
}

/// Nor when there was one before.
TEST(cutoff, long_iterations_with_polls_after_steps_are_given_away) {
  const auto step = [] {
    int value = 0;
    each(
        0, 1,
        [&value](int, auto wind) {
          wind([&value] { ++value; }, [] { both([] {}, [] {}); }, [&value] { --value; });
        },
        [](int, int) { return part_of_walk{}; }, [](long) {});
  };
  EXPECT_EQ(waits_in_vain(step, std::chrono::seconds(2)), 0);
}

TEST(cutoff, loops_without_a_put) {
  constexpr long all = power(7, 6);
  constexpr int runs = sanitized ? 4 : 20;
  ledger once(all);
  const affine expected = spread(&once, 6, 0);  // outside of run: sequential
  for (int workers : {1, 2, 8}) {
    runtime rt(options{.workers = workers});
    for (int k = 0; k < runs; ++k) {
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
