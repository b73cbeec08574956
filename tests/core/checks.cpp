// CLEAVE_CHECK=N: which polls it divides at, what it prints, and what is no alarm.
#include "core/checks.hpp"

#include "core/requests.hpp"

#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

using detail::checked_polls;

/// The numbers of the polls that are divided at, of so many.
std::vector<std::uint64_t> chosen(std::uint64_t divisions, std::uint32_t seed,
                                  std::uint64_t polls) {
  checked_polls plan(divisions, seed);
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 1; n <= polls; ++n) {
    if (!plan.is_due()) continue;
    all.push_back(n);
    plan.divided();
  }
  EXPECT_EQ(plan.seen(), polls);
  EXPECT_EQ(plan.divisions(), all.size());
  return all;
}

TEST(checked_polls, are_all_without_a_number_of_divisions) {
  EXPECT_EQ(chosen(0, 1, 1000).size(), 1000u);
}

TEST(checked_polls, are_spread_over_short_runs_and_long_ones) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const auto all = chosen(1000, seed, 10'000'000);
    EXPECT_LT(all.front(), 2 * 32u + 1);
    EXPECT_GE(all.size(), 300u);
    EXPECT_LE(all.size(), 1000u);
    const auto between = [&](std::uint64_t from, std::uint64_t to) {
      return std::lower_bound(all.begin(), all.end(), to) -
             std::lower_bound(all.begin(), all.end(), from);
    };
    for (std::uint64_t n = 100; n < 10'000'000; n *= 10) {
      // The last tenth of a run gets some too.
      EXPECT_GE(between(n, 10 * n), n < 1000 ? 15 : 50) << "from poll " << n;
      EXPECT_GE(between(9 * n, 10 * n), 1) << "from poll " << 9 * n;
    }
  }
}

TEST(checked_polls, are_no_more_than_wanted) {
  for (const std::uint64_t most : {2u, 3u, 10u, 100u})
    for (std::uint32_t seed = 1; seed < 50; ++seed) {
      const auto all = chosen(most, seed, 100'000);
      EXPECT_LE(all.size(), most);
      EXPECT_GE(all.size(), most < 10 ? 1 : most == 10 ? 2 : 15);
    }
}

TEST(checked_polls, are_chosen_by_the_seed) {
  EXPECT_EQ(chosen(100, 7, 100'000), chosen(100, 7, 100'000));
  EXPECT_NE(chosen(100, 7, 100'000), chosen(100, 8, 100'000));
}

TEST(checked_polls, stay_due_until_something_was_divided) {
  checked_polls plan(10, 1);
  while (!plan.is_due()) {}
  EXPECT_TRUE(plan.is_due());
  plan.divided();
  EXPECT_FALSE(plan.is_due());
}

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

TEST(check_of_some_polls, makes_at_most_so_many_divisions) {
  for (const int most : {2, 30, 1000}) {
    runtime rt(options{.check = most, .check_seed = 3});
    EXPECT_EQ(rt.run([] { return fib(22); }), 17711);
    EXPECT_LE(rt.statistics().splits, static_cast<unsigned>(most));
    EXPECT_GE(rt.statistics().splits, most == 1000 ? 100u : 1u);
    rt.run([] { return fib(22); });  // the divisions are those of the runtime
    EXPECT_LE(rt.statistics().splits, static_cast<unsigned>(most));
  }
}

/// The order in which everything runs, in short. Bodies of a few instructions, whose polls would
/// otherwise depend on the clock.
std::uint64_t order_of(std::uint32_t seed) {
  runtime rt(options{.check = 200, .check_seed = seed});
  std::uint64_t order = 0, first = 0;
  rt.run([&] {
    each(0, 20, [&order](int i) {
      fib(5);
      each(0, 20'000,
           [&order, i](int k) { order = order * 31 + static_cast<unsigned>(i * 20'000 + k); });
    });
    if (first == 0) first = order;
  });
  return first;
}

TEST(check_of_some_polls, divides_at_the_same_places_with_the_same_seed) {
  const std::uint64_t order = order_of(7);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(order_of(7), order);
  EXPECT_NE(order_of(8), order);
}

struct inner_part {
  int from, to;
  long run() { return to - from; }
};

/// The loop around it can be halved for as long as it runs: who divides only the outermost loop
/// hardly meets the put of the inner one.
TEST(check_of_some_polls, divides_inner_loops_too) {
  runtime rt(options{.check = 300, .check_seed = 1});
  std::uint64_t inner = 0;
  rt.run([&inner] {
    return sum(0, 100'000, [&inner](int) {
      return sum(
          0, 3, [](int) { return 1L; },
          [&inner](int from, int to) {
            ++inner;
            return inner_part{from, to};
          });
    });
  });
  const std::uint64_t all = rt.statistics().splits;
  EXPECT_GT(all, 100u);
  EXPECT_GT(inner, all / 12);
}

/// A knapsack whose bound is found on the way down. Returns the nodes visited.
struct knapsack {
  static constexpr int items = 60;
  std::array<int, items> weight{}, worth{};
  shared<int, cleave::max> best{0};

  explicit knapsack(unsigned seed) {
    std::array<int, items> by_worth{};
    for (int& w : by_worth)
      seed = seed * 1664525u + 1013904223u, w = 2 * (50 + int(seed >> 16) % 500);
    std::sort(by_worth.begin(), by_worth.end());  // of worth per weight the best is the first
    weight = by_worth;
    for (std::size_t i = 0; i < items; ++i) worth[i] = weight[i] + 100;
  }
  bool may_be_better(std::size_t i, int room, int value) const {
    for (; i < items && weight[i] <= room; ++i) room -= weight[i], value += worth[i];
    const int part =
        i < items ? static_cast<int>(static_cast<long>(room) * worth[i] / weight[i]) : 0;
    return value + part > best.get();
  }
  long pack(std::size_t i, int room, int value) {
    best.offer(value);
    if (i == items || !may_be_better(i, room, value)) return 1;
    if (weight[i] > room) return pack(i + 1, room, value);
    auto [with, without] =
        both([=, this] { return pack(i + 1, room - weight[i], value + worth[i]); },
             [=, this] { return pack(i + 1, room, value); });
    return 1 + with + without;
  }
};

TEST(check_of_some_polls, leaves_a_branch_and_bound_its_bound) {
  constexpr unsigned seeds = 8;
  long divided = 0, undivided = 0;  // the nodes of all runs
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    runtime rt(options{.check = 1000, .check_seed = seed});
    int call = 0;
    rt.run([&] {
      knapsack k(53);
      int room = 0;
      for (const int w : k.weight) room += w / 2;
      (call++ == 0 ? divided : undivided) += k.pack(0, room | 1, 0);
      return k.best.get();
    });
    EXPECT_GT(rt.statistics().splits, 100u);
  }
  EXPECT_GT(undivided, seeds * 10'000);
  EXPECT_LT(divided, 15 * undivided);  // with a division at every poll it takes hours
}

// ---- what is no alarm

TEST(check_error_of, a_cancelled_scope_is_none) {
  for (const int amount : {1, 20}) {
    runtime rt(options{.check = amount, .check_seed = 1});
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(rt.run([] {
      cancel_scope search;
      std::atomic<int> found{-1};
      search.run([&] {
        each(0, 10'000, [&](int i) {
          poll();
          if (i % 1000 != 777) return;
          int none = -1;
          found.compare_exchange_strong(none, i);
          search.cancel();
        });
      });
      return found.load();
    }));
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  "the results differ; that is no alarm, as a scope was cancelled\n"),
              std::string::npos);
  }
}

TEST(check_error_of, what_differs_in_a_run_without_cancellation_is_one) {
  runtime rt(options{.check = 1});
  rt.run([] {
    cancel_scope search;
    search.run([&] { search.cancel(); });
    return 1;
  });
  EXPECT_THROW(rt.run([] {
    int calls = 0;
    return sum(0, 10, [&calls](int i) { return ++calls * i; });
  }),
               check_error);
}

/// Parts that an exception abandons are no reason to differ.
TEST(check_error_of, what_differs_beside_an_exception_is_one) {
  runtime rt(options{.check = 1});
  EXPECT_THROW(rt.run([] {
    try {
      sum(0, 100, [](int i) -> int { return i == 3 ? throw std::runtime_error("3") : i; });
    } catch (const std::runtime_error&) {}
    int calls = 0;
    return sum(0, 10, [&calls](int i) { return ++calls * i; });
  }),
               check_error);
}

std::string alarm(const options& o, const std::function<int()>& f) {
  runtime rt(o);
  try {
    rt.run(f);
  } catch (const check_error& e) { return e.what(); }
  return "";
}

TEST(check_error_of, a_program_in_place_says_that_it_cannot_be_checked) {
  int state = 1;
  const auto in_place = [&state] {
    return state = 3 * state + sum<int>(0, 10, [](int i) { return i; });
  };
  const auto on_a_copy = [] {
    int copy = 1;
    for (int i = 0; i < 3; ++i) copy = 3 * copy + sum<int>(0, 10, [](int k) { return k; });
    return copy;
  };
  EXPECT_NE(alarm({.check = 1}, in_place).find("gives another result at each call"),
            std::string::npos);
  EXPECT_EQ(alarm({.check = 1}, on_a_copy), "");
}

TEST(check_error_of, some_polls_says_how_to_repeat_it) {
  const auto wrong = [] {
    int calls = 0;
    return sum(0, 1000, [&calls](int i) {
      poll();
      return ++calls % 10 * i;
    });
  };
  EXPECT_NE(alarm({.check = 50, .check_seed = 9}, wrong)
                .find("CLEAVE_CHECK=50 CLEAVE_CHECK_SEED=9 divides at the same places"),
            std::string::npos);
  EXPECT_EQ(alarm({.check = 1}, wrong).find("CLEAVE_CHECK_SEED"), std::string::npos);
}

// ---- what is printed

class printed : public testing::Test {
protected:
  ~printed() override { unsetenv("CLEAVE_CHECK_PROGRESS"); }
  static std::string by(const char* progress, double seconds, int amount = 100) {
    progress != nullptr ? setenv("CLEAVE_CHECK_PROGRESS", progress, 1)
                        : unsetenv("CLEAVE_CHECK_PROGRESS");
    testing::internal::CaptureStderr();
    run_for(seconds, amount);
    return testing::internal::GetCapturedStderr();
  }
  static void run_for(double seconds, int amount) {
    using clock = std::chrono::steady_clock;
    runtime rt(options{.check = amount, .check_seed = 5});
    const auto until = clock::now() + std::chrono::duration<double>(seconds);
    rt.run([=] {
      while (clock::now() < until) fib(3);
    });
    rt.run([] {});
  }
  static std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
};

TEST_F(printed, what_happens_is_said_once) {
  const std::string some = by("0", 0), all = by("0", 0, 1);
  EXPECT_EQ(some.find("cleave: CLEAVE_CHECK=100 CLEAVE_CHECK_SEED=5: each run() calls its function "
                      "twice, first divided, then undivided"),
            0u)
      << some;
  EXPECT_EQ(all.find("cleave: CLEAVE_CHECK=1: each run() calls"), 0u) << all;
  EXPECT_EQ(lines(some), 1u) << some;
  EXPECT_EQ(lines(all), 1u) << all;
}

TEST_F(printed, the_progress_of_a_long_run) {
  const std::string text = by("1", 1.3);
  // On a busy machine more than a second has passed when it is looked.
  EXPECT_TRUE(std::regex_search(text, std::regex(" polls, [1-9][0-9]* s, in the divided run\n")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(" polls, [1-9][0-9]* s, in all\n"))) << text;
  EXPECT_GT(std::strtol(text.c_str() + text.find("CLEAVE_CHECK: ") + 14, nullptr, 10), 20) << text;
}

TEST_F(printed, the_progress_is_for_terminals_unless_it_is_asked_for) {
  EXPECT_EQ(lines(by(nullptr, 0)), 1u);
  int terminal = -1, program = -1;
  ASSERT_EQ(openpty(&terminal, &program, nullptr, nullptr, nullptr), 0);
  const int before = dup(STDERR_FILENO);
  dup2(program, STDERR_FILENO);
  unsetenv("CLEAVE_CHECK_PROGRESS");
  run_for(0, 100);
  dup2(before, STDERR_FILENO);
  for (const int fd : {program, before}) close(fd);
  std::array<char, 4096> text{};
  std::string all;
  for (ssize_t n; (n = read(terminal, text.data(), text.size())) > 0;)
    all.append(text.data(), static_cast<std::size_t>(n));
  close(terminal);
  EXPECT_NE(all.find(" polls, 0 s, in all"), std::string::npos) << all;
}

}  // namespace
}  // namespace cleave::tests
