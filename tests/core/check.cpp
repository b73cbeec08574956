// CLEAVE_CHECK finds what would go wrong with thieves, and passes programs that are right.
#include "core/requests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

namespace cleave::tests {
namespace {

const options checked{.check = true};

enum class mistake { none, no_step, put_of_the_wrong_range };

/// Queens on a board that is changed in place.
struct board {
  int n;
  std::array<int, 12> column{};
  bool free(int row, int c) const {
    for (int r = 0; r < row; ++r) {
      const int d = column[static_cast<std::size_t>(r)];
      if (d == c || d - c == row - r || c - d == row - r) return false;
    }
    return true;
  }
};

long search(board& b, std::array<bool, 12>& used, int row, int first, int last, mistake m);

struct queens {
  board b;
  std::array<bool, 12> used;
  int row, first, last;
  mistake m;
  long run() { return search(b, used, row, first, last, m); }
};

long search(board& b, std::array<bool, 12>& used, int row, int first, int last, mistake m) {
  if (row == b.n) return 1;
  const auto put = [&b, &used, row, m](int from, int to) {
    if (m == mistake::put_of_the_wrong_range) --to;
    return queens{b, used, row, from, to, m};
  };
  return sum(
      first, last,
      [&b, &used, row, m](int c) -> long {
        if (used[static_cast<std::size_t>(c)] || !b.free(row, c)) return 0;
        const auto place = [&b, &used, row, c] {
          b.column[static_cast<std::size_t>(row)] = c;
          used[static_cast<std::size_t>(c)] = true;
        };
        const auto remove = [&used, c] { used[static_cast<std::size_t>(c)] = false; };
        if (m == mistake::no_step) {  // sequentially right
          place();
          const long n = search(b, used, row + 1, 0, b.n, m);
          remove();
          return n;
        }
        step placed{place, remove};
        return search(b, used, row + 1, 0, b.n, m);
      },
      put);
}

long solve(mistake m) {
  board b{.n = 7};
  std::array<bool, 12> used{};
  return search(b, used, 0, 0, b.n, m);
}

TEST(check, passes_what_is_right) {
  runtime rt(checked);
  EXPECT_EQ(rt.workers(), 1);
  EXPECT_EQ(rt.run([] { return solve(mistake::none); }), 40);
  EXPECT_GT(rt.statistics().splits, 500u);
}

TEST(check, finds_a_forgotten_step) {
  runtime rt(checked);
  EXPECT_THROW(rt.run([] { return solve(mistake::no_step); }), check_error);
}

TEST(check, finds_a_put_of_the_wrong_range) {
  runtime rt(checked);
  EXPECT_THROW(rt.run([] { return solve(mistake::put_of_the_wrong_range); }), check_error);
}

TEST(check, finds_a_closure_that_is_not_by_value) {
  runtime rt(checked);
  EXPECT_THROW(rt.run([] {
    const auto calls = std::make_shared<int>(0);
    return sum(0, 10, [calls](int i) { return ++*calls * i; });
  }),
               check_error);
}

TEST(check, finds_a_merge_that_is_not_associative) {
  runtime rt(checked);
  EXPECT_THROW(rt.run([] {
    return reduce(
        0, 10, 0, [](int i) { return i; }, [](int a, int b) { return b - a; });
  }),
               check_error);
}

TEST(check, the_mistakes_are_right_without_division) {
  runtime rt(options{.workers = 1});
  for (mistake m : {mistake::none, mistake::no_step, mistake::put_of_the_wrong_range}) {
    EXPECT_EQ(rt.run([m] { return solve(m); }), 40);
  }
}

TEST(check, compares_floating_point_results_with_tolerance) {
  runtime rt(checked);
  EXPECT_NEAR(rt.run([] { return sum(1, 10'000, [](int i) { return 1.0 / i; }); }), 9.7875, 0.001);
  int call = 0;
  EXPECT_THROW(rt.run([&call] { return 1.0 + call++; }), check_error);
}

struct incomparable {
  int n;
};

TEST(check, compares_what_is_infinite_or_no_number) {
  runtime rt(checked);
  const auto least = [](double none) {
    return reduce(
        0, 9, none, [none](int) { return none; }, [](double a, double b) { return a < b ? a : b; });
  };
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rt.run([&] { return least(infinite); }), infinite);
  EXPECT_TRUE(std::isnan(rt.run([&] { return least(std::nan("")); })));
}

/// No numbers that == finds in it.
struct named {
  double x;
  std::string name;
  auto fields() const { return std::tie(x, name); }
  bool operator==(const named&) const = default;
};
struct aggregate {
  double x, y;
  bool operator==(const aggregate&) const = default;
};

template <class T>
void expect_compared(const T& first, const T& same, const T& other) {
  runtime rt(checked);
  int call = 0;
  EXPECT_NO_THROW(rt.run([&] { return call++ == 0 ? first : same; }));
  EXPECT_THROW(rt.run([&] { return call++ == 2 ? first : other; }), check_error);
}

TEST(check, compares_numbers_inside_of_results) {
  const double none = std::nan(""), third = 1.0 / 3, about = third + 1e-14;
  expect_compared(std::pair(none, 1), std::pair(none, 1), std::pair(none, 2));
  expect_compared(std::pair(third, none), std::pair(about, none), std::pair(third, 1.0));
  expect_compared(std::tuple(1, none), std::tuple(1, none), std::tuple(1, 2.0));
  using array = std::array<float, 2>;
  expect_compared(array{1, NAN}, array{1, NAN}, array{2, NAN});
  using vector = std::vector<std::pair<int, double>>;
  expect_compared(vector{{1, none}}, vector{{1, none}}, vector{{1, none}, {2, none}});
  using optional = std::optional<double>;
  expect_compared(optional(none), optional(none), optional());
  using variant = std::variant<int, double>;
  expect_compared(variant(none), variant(none), variant(1));
  using complex = std::complex<double>;
  expect_compared(complex(third, none), complex(about, none), complex(1, none));
  using map = std::map<std::string, double>;
  expect_compared(map{{"a", none}}, map{{"a", none}}, map{{"b", none}});
  expect_compared(named{none, "a"}, named{none, "a"}, named{none, "b"});
  expect_compared(aggregate{none, 1}, aggregate{none, 1}, aggregate{none, 2});
}

struct counts {
  int from, to;
  long run() { return to - from; }
};
// What a poll in a put would divide is what the put is for.
TEST(check, a_put_may_poll) {
  for (const bool check : {true, false}) {
    runtime rt(options{.workers = check ? 1 : 4, .check = check});
    for (int round = 0; round < (check ? 1 : 50); ++round)
      EXPECT_EQ(rt.run([] {
        return sum(
            0, 300,
            [](int) {
              for (int i = 0; i < 20; ++i) poll();
              return 1L;
            },
            [](int from, int to) {
              for (int i = 0; i < 100; ++i) poll();
              each(0, 20, [](int) { poll(); });
              task_group group;
              group.spawn([] { poll(); });
              group.wait();
              return counts{from, to};
            });
      }),
                300);
  }
}

TEST(check, runs_what_cannot_be_compared) {
  runtime rt(checked);
  int call = 0;
  EXPECT_EQ(rt.run([&call] { return incomparable{call++}; }).n, 0);
  rt.run([&call] { ++call; });
  EXPECT_EQ(call, 4);
  EXPECT_EQ(rt.run([] { return std::vector<incomparable>(3); }).size(), 3u);
  EXPECT_EQ(rt.run([] { return std::pair(incomparable{1}, 2); }).second, 2);
  EXPECT_EQ(rt.run([] { return std::vector<std::tuple<int, incomparable>>(1); }).size(), 1u);
  // By addresses nothing is the same.
  using pointers = std::vector<std::unique_ptr<int>>;
  auto make = [] {
    pointers all;
    all.push_back(std::make_unique<int>(1));
    return all;
  };
  EXPECT_EQ(rt.run(make).size(), 1u);
}

TEST(check, an_exception_comes_from_the_divided_run) {
  runtime rt(checked);
  int call = 0;
  EXPECT_THROW(rt.run([&call] {
    ++call;
    both([] { throw 1; }, [] {});
  }),
               int);
  EXPECT_EQ(call, 1);
}

long deep_second(int depth) {
  if (depth == 0) return 1;
  auto [one, rest] = both([] { return 1L; }, [=] { return deep_second(depth - 1); });
  return one + rest;
}

/// 0.05 s; it was 18 s when the time was cubic.
TEST(check, takes_no_more_than_quadratic_time_where_the_second_branch_is_deep) {
  runtime rt(checked);
  constexpr int depth = 2000;
  const std::clock_t begin = std::clock();  // of the processor: others may use it too
  EXPECT_EQ(rt.run([] { return deep_second(depth); }), depth + 1);
  EXPECT_LT(std::clock() - begin, 4 * CLOCKS_PER_SEC);
}

TEST(check, splits_at_every_poll) {
  runtime rt(checked);
  const auto splits = [&rt] { return rt.statistics().splits; };
  const auto before = splits();
  rt.run([] {
    both([] {}, [] {});                       // 1
    both([] { both([] {}, [] {}); }, [] {});  // 2
    each(0, 2, [](int) {});                   // 1
    // 8: 4 are given at the entry, 2 of the other 4 at the poll of the first iteration; likewise in
    // the parts:
    each(0, 8, [](int) { poll(); });  // s(8) = 2 + s(4) + s(2), s(4) = 2 + s(2), s(2) = 1: 6
  });
  EXPECT_EQ(splits() - before, 10u);
}

}  // namespace
}  // namespace cleave::tests
