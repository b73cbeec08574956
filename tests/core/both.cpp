// The three forms of `both`: results, kinds of closures, divided anywhere.
#include "core/requests.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace cleave::tests {
namespace {

class both_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(both_with);

long fib(int n) {
  if (n < 2) return n;
  disturb(static_cast<std::uint64_t>(n), 5);
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

struct fib_task {
  int n;
  auto input() { return std::tie(n); }
  long run() {
    if (n < 2) return n;
    disturb(static_cast<std::uint64_t>(n), 5);
    auto [x, y] = both([this] { return fib_task{n - 1}.run(); }, fib_task{n - 2});
    return x + y;
  }
};

TEST_P(both_with, two_closures) {
  EXPECT_EQ(rt.run([] { return fib(20); }), 6765);
}

TEST_P(both_with, a_closure_and_a_task) {
  EXPECT_EQ(rt.run([] { return fib_task{20}.run(); }), 6765);
}

/// Counts the subsets of n things by going in and out of a shared array.
struct subsets {
  std::array<bool, 16> in;
  std::size_t next;
  long run() { return count(in, next); }
  static long count(std::array<bool, 16>& in, std::size_t next) {
    disturb(next + in[0] * 2 + in[1] * 4, 4);
    if (next == 12) {
      long n = 0;
      for (bool b : in) n += b;
      return n;
    }
    auto [with, without] = both(
        [&in, next] {
          step put_in{[&in, next] { in[next] = true; }, [&in, next] { in[next] = false; }};
          return count(in, next + 1);
        },
        [&in, next] { return count(in, next + 1); },
        [&in, next] {
          return subsets{in, next + 1};
        });
    return with + without;
  }
};

TEST_P(both_with, a_shared_workspace_and_a_put) {
  EXPECT_EQ(rt.run([] {
    std::array<bool, 16> in{};
    const long n = subsets::count(in, 0);
    for (bool b : in) EXPECT_FALSE(b);
    return n;
  }),
            12 * (1 << 11));
}

TEST_P(both_with, void_branches) {
  std::atomic<int> calls{0};
  rt.run([&calls] {
    const auto one = [&calls] {
      force_split();
      ++calls;
    };
    static_assert(std::is_void_v<decltype(both(one, one))>);
    both(one, one);
    auto [n, x] = both(one, [] { return 7; });
    static_assert(std::is_same_v<decltype(n), nothing>);
    EXPECT_EQ(x, 7);
    auto [y, m] = both(
        [] {
          force_split();
          return 8;
        },
        one);
    static_assert(std::is_same_v<decltype(m), nothing>);
    EXPECT_EQ(y, 8);
  });
  EXPECT_EQ(calls, 4 * static_cast<int>(times()));
}

TEST_P(both_with, results_that_only_move) {
  rt.run([] {
    auto [a, b] = both(
        [] {
          force_split();
          return std::make_unique<int>(1);
        },
        [] { return std::make_unique<int>(2); });
    EXPECT_EQ(*a, 1);
    EXPECT_EQ(*b, 2);
  });
}

TEST_P(both_with, closures_that_only_move) {
  for (bool split : {false, true}) {
    rt.run([split] {
      auto first = std::make_unique<int>(3);
      auto second = std::make_unique<int>(4);
      auto [a, b] = both(
          [split, p = std::move(first)] {
            if (split) force_split();
            return *p;
          },
          [p = std::move(second)] { return *p; });
      EXPECT_EQ(a, 3);
      EXPECT_EQ(b, 4);
    });
  }
}

struct moving_task {
  std::unique_ptr<int> p;
  int run() { return *p; }
};

TEST_P(both_with, tasks_that_only_move) {
  for (bool split : {false, true}) {
    rt.run([split] {
      auto [a, b] = both(
          [split] {
            if (split) force_split();
            return 5;
          },
          moving_task{std::make_unique<int>(6)});
      EXPECT_EQ(a + b, 11);
      auto [c, d] = both(
          [split] {
            if (split) force_split();
            return 5;
          },
          [] { return 7; }, [] { return moving_task{std::make_unique<int>(7)}; });
      EXPECT_EQ(c + d, 12);
    });
  }
}

/// Counts its copies and its lives.
struct tracked {
  static inline std::atomic<int> alive{0};
  std::string text;
  explicit tracked(std::string t) : text(std::move(t)) { ++alive; }
  tracked(const tracked& o) : text(o.text) { ++alive; }
  tracked(tracked&& o) noexcept : text(std::move(o.text)) { ++alive; }
  ~tracked() { --alive; }
};

TEST_P(both_with, large_closures_that_are_not_trivial) {
  const std::string text(1000, 'x');
  for (bool split : {false, true}) {
    rt.run([&text, split] {
      std::array<std::uint64_t, 64> large{};
      large[63] = 9;
      auto [a, b] = both(
          [split, large] {
            if (split) force_split();
            return large[63];
          },
          [large, t = tracked(text)] { return t.text + std::to_string(large[63]); });
      EXPECT_EQ(a, 9u);
      EXPECT_EQ(b, text + "9");
    });
  }
  EXPECT_EQ(tracked::alive, 0);
}

TEST_P(both_with, large_results_that_are_not_trivial) {
  rt.run([] {
    auto [a, b] = both(
        [] {
          force_split();
          return tracked(std::string(500, 'a'));
        },
        [] { return std::vector<std::string>(100, std::string(100, 'b')); });
    EXPECT_EQ(a.text, std::string(500, 'a'));
    ASSERT_EQ(b.size(), 100u);
    EXPECT_EQ(b[99], std::string(100, 'b'));
  });
  EXPECT_EQ(tracked::alive, 0);
}

TEST_P(both_with, closures_that_change_themselves) {
  rt.run([] {
    auto [a, b] = both(
        [n = 0]() mutable {
          force_split();
          return ++n;
        },
        [n = 10]() mutable { return ++n; });
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 11);
  });
}

/// Its copy may throw, and so may its move, after which it would be empty.
struct fragile {
  std::vector<int> content{1, 2, 3};
  bool* armed;
  explicit fragile(bool* a) : armed(a) {}
  fragile(const fragile& other) : content((other.check(), other.content)), armed(other.armed) {}
  fragile(fragile&& other) : content(std::move(other.content)), armed(other.armed) { check(); }
  void check() const {
    if (*armed) throw std::runtime_error("x");
  }
};

/// A branch that could not be given is as it was: it is given later, or runs here.
TEST(both_alone, a_branch_whose_copy_throws) {
  runtime rt(options{.workers = 1});
  for (const bool given_later : {false, true}) {
    rt.run([given_later] {
      bool armed = false;
      auto [a, b] = both(
          [&armed, given_later] {
            armed = true;
            EXPECT_THROW(force_split(), std::runtime_error);
            EXPECT_THROW(force_split(), std::runtime_error);
            armed = false;
            if (given_later) force_split();
            return 1;
          },
          [f = fragile(&armed)] { return f.content.size(); });
      EXPECT_EQ(a, 1);
      EXPECT_EQ(b, 3u);
    });
    EXPECT_EQ(rt.statistics().splits, given_later ? 1u : 0u);
  }
}

TEST_P(both_with, function_pointers) {
  rt.run([] {
    int (*one)() = [] {
      force_split();
      return 1;
    };
    auto [a, b] = both(one, one);
    EXPECT_EQ(a + b, 2);
  });
}

TEST_P(both_with, branches_that_return_references) {
  static int x = 1, y = 2;
  rt.run([] {
    auto [a, b] = both(
        []() -> int& {
          force_split();
          return x;
        },
        []() -> const int& { return y; });
    EXPECT_EQ(a + b, 3);
  });
}

std::string spell(int from, int to) {
  disturb(static_cast<std::uint64_t>(from * 100 + to), 3);
  if (to - from == 1) return std::to_string(from) + ",";
  const int half = (from + to) / 2;
  auto [a, b] = both([=] { return spell(from, half); }, [=] { return spell(half, to); });
  return a + b;
}

TEST_P(both_with, results_in_program_order) {
  std::string expected;
  for (int i = 0; i < 300; ++i) expected += std::to_string(i) + ",";
  for (int k = 0; k < 10; ++k) ASSERT_EQ(rt.run([] { return spell(0, 300); }), expected);
}

/// run() is what a task does, whatever else it can do.
struct task_and_call {
  long run() { return 1; }
  long operator()() { return 2; }
};

TEST_P(both_with, a_task_that_can_also_be_called) {
  EXPECT_EQ(rt.run([] {
    auto [x, y] = both(
        [] {
          disturb(1, 2);
          return 3L;
        },
        task_and_call{});
    return x + y;
  }),
            4);
}

}  // namespace
}  // namespace cleave::tests
