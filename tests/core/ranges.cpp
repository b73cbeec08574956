// Loops over ranges and iterators, in all forms.
#include "core/requests.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

class ranges_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(ranges_with);

std::vector<int> numbers(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 1);
  return all;
}
long value_of(int x) {
  disturb(static_cast<std::uint64_t>(x), 5);
  return x;
}
const auto value = [](int x) { return value_of(x); };
constexpr long total_of(long n) { return n * (n + 1) / 2; }

TEST_P(ranges_with, sum_of_what_is_indexed) {
  const std::vector<int> vector = numbers(300);
  std::array<int, 3> array{1, 2, 3};
  int plain[] = {1, 2, 3, 4};
  std::deque<int> deque(vector.begin(), vector.end());
  const std::span<const int> span(vector.data() + 1, 9);
  rt.run([&] {
    EXPECT_EQ(sum(vector, value), total_of(300));
    EXPECT_EQ(sum(array, value), 6);
    EXPECT_EQ(sum(plain, value), 10);
    EXPECT_EQ(sum(deque, value), total_of(300));
    EXPECT_EQ(sum(span, value), total_of(10) - 1);
    EXPECT_EQ(sum(std::views::iota(1, 101), value), total_of(100));
    EXPECT_EQ(sum(std::views::iota(1L, 101L), [](long x) { return x; }), total_of(100));
    EXPECT_EQ(sum(vector | std::views::reverse | std::views::drop(100), value), total_of(200));
    EXPECT_EQ(sum(vector | std::views::transform([](int x) { return 2 * x; }), value),
              2 * total_of(300));
    EXPECT_EQ(sum(numbers(50), value), total_of(50));
    EXPECT_EQ(sum(std::vector<int>(), value), 0);
    EXPECT_EQ(sum(std::vector<bool>{true, false, true}, [](bool b) { return b; }), 2);
  });
}

TEST_P(ranges_with, sum_of_iterators) {
  const std::vector<int> vector = numbers(300);
  int plain[] = {1, 2, 3, 4};
  const std::deque<int> deque(vector.begin(), vector.end());
  rt.run([&] {
    EXPECT_EQ(sum(vector.begin(), vector.end(), value), total_of(300));
    EXPECT_EQ(sum(vector.begin(), vector.begin() + 10, value), total_of(10));
    EXPECT_EQ(sum(deque.begin(), deque.end(), value), total_of(300));
    EXPECT_EQ(sum(plain, plain + 3, value), 6);
    EXPECT_EQ(sum(&plain[1], std::end(plain), value), 9);
    EXPECT_EQ(sum(vector.end(), vector.end(), value), 0);
  });
}

TEST_P(ranges_with, totals_of_named_types) {
  const std::vector<int> vector = numbers(300);
  rt.run([&] {
    static_assert(std::is_same_v<decltype(sum<double>(vector, value)), double>);
    EXPECT_EQ(sum<double>(vector, value), 45150.0);
    EXPECT_EQ(sum<double>(vector.begin(), vector.end(), value), 45150.0);
    EXPECT_EQ(reduce<double>(vector, 0, value, std::plus()), 45150.0);
  });
}

TEST_P(ranges_with, each_changes_its_elements) {
  std::vector<std::string> texts(200, "a");
  std::deque<int> deque(200, 1);
  int plain[] = {1, 2, 3, 4};
  rt.run([&] {
    each(texts, [](std::string& s) {
      disturb(s.size(), 2);
      s += 'b';
    });
    each(deque.begin(), deque.end(), [](int& x) { x = 2; });
    each(plain, plain + 2, [](int& x) { x = 9; });
  });
  const std::string expected = times() == 2 ? "abb" : "ab";
  EXPECT_EQ(std::count(texts.begin(), texts.end(), expected), 200);
  EXPECT_EQ(std::count(deque.begin(), deque.end(), 2), 200);
  EXPECT_EQ(plain[0] + plain[1] + plain[2] + plain[3], 9 + 9 + 3 + 4);
}

/// A range that is not copied.
struct only_here : std::vector<int> {
  using vector::vector;
  only_here(const only_here&) = delete;
  only_here& operator=(const only_here&) = delete;
};

TEST_P(ranges_with, neither_ranges_nor_elements_are_copied) {
  only_here range(100, 1);
  std::vector<std::unique_ptr<int>> pointers(100);
  rt.run([&] {
    EXPECT_EQ(sum(range, value), 100);
    EXPECT_EQ(sum(only_here(5, 1), value), 5);
    each(pointers, [](std::unique_ptr<int>& p) { p = std::make_unique<int>(1); });
    EXPECT_EQ(sum(pointers, [](const std::unique_ptr<int>& p) { return *p; }), 100);
  });
}

TEST_P(ranges_with, reduce_in_program_order) {
  const std::vector<int> vector = numbers(200);
  std::string expected;
  for (int x : vector) expected += std::to_string(x) + ",";
  const auto spell = [](int x) { return std::to_string(value_of(x)) + ","; };
  rt.run([&] {
    EXPECT_EQ(reduce(vector, std::string(), spell, std::plus()), expected);
    EXPECT_EQ(reduce(vector.begin(), vector.end(), std::string(), spell, std::plus()), expected);
    // The identity may be an iterator of the range.
    const auto least = reduce(
        std::views::iota(vector.begin(), vector.end()), vector.end(), [](auto at) { return at; },
        [end = vector.end()](auto a, auto b) { return a == end || *b > *a ? b : a; });
    EXPECT_EQ(*least, 200);
  });
}

/// A task that holds copies of what it is to add up.
struct copies {
  std::vector<int> of;
  auto input() { return std::tie(of); }
  long run() { return sum(of, value); }
};

TEST_P(ranges_with, put_gets_a_span_of_what_lies_side_by_side) {
  const std::vector<int> vector = numbers(300);
  const auto put = [](auto part) {
    static_assert(std::is_same_v<decltype(part), std::span<const int>>);
    EXPECT_FALSE(part.empty());
    return copies{{part.begin(), part.end()}};
  };
  rt.run([&] {
    EXPECT_EQ(sum(vector, value, put), total_of(300));
    EXPECT_EQ(sum(vector.begin(), vector.end(), value, put), total_of(300));
    EXPECT_EQ(reduce(vector, 0L, value, std::plus(), put), total_of(300));
    EXPECT_EQ(reduce(vector.begin(), vector.end(), 0L, value, std::plus(), put), total_of(300));
    long of_parts = 0, here = 0;
    each(
        vector, [&here](int x) { here += value_of(x); }, put,
        [&of_parts](long part) { of_parts += part; });
    each(
        vector.begin(), vector.end(), [&here](int x) { here += value_of(x); }, put,
        [&of_parts](long part) { of_parts += part; });
    EXPECT_EQ(here + of_parts, 2 * total_of(300));
  });
}

TEST_P(ranges_with, put_gets_a_subrange_of_what_does_not) {
  const std::vector<int> vector = numbers(300);
  const std::deque<int> deque(vector.begin(), vector.end());
  rt.run([&] {
    EXPECT_EQ(sum(deque, value,
                  [](std::ranges::subrange<std::deque<int>::const_iterator> part) {
                    return copies{{part.begin(), part.end()}};
                  }),
              total_of(300));
    EXPECT_EQ(sum(std::views::iota(1, 301), value,
                  [](auto part) {
                    return copies{{part.begin(), part.end()}};
                  }),
              total_of(300));
  });
}

struct marking {
  std::span<int> part;
  void run() {
    each(
        part,
        [](int& x) {
          ++x;
          disturb(static_cast<std::uint64_t>(x), 3);
        },
        [](std::span<int> given) { return marking{given}; });
  }
};

TEST_P(ranges_with, each_with_a_put_of_a_task_that_returns_nothing) {
  std::vector<int> marks(500);
  rt.run([&marks] { marking{marks}.run(); });
  EXPECT_EQ(std::count(marks.begin(), marks.end(), static_cast<int>(times())), 500);
}

TEST_P(ranges_with, a_body_that_adds_to_the_total) {
  const std::vector<int> vector = numbers(300);
  rt.run([&] {
    EXPECT_EQ(sum(
                  vector, [](int x, long& total) { total += value_of(x); },
                  [](std::span<const int> part) {
                    return copies{{part.begin(), part.end()}};
                  }),
              total_of(300));
  });
}

/// Sums of subsets, by a workspace that the loop's wind changes.
struct subsets {
  std::vector<int> left;
  long chosen = 0;
  auto input() { return std::tie(left, chosen); }
  long run() { return below(left, chosen); }
  static long below(std::span<const int> left, long& chosen) {
    const long here = chosen;
    const int* const end = left.data() + left.size();
    return here + sum(
                      left,
                      [&chosen, end](const int& x, long& found, auto wind) {
                        disturb(static_cast<std::uint64_t>(x + chosen), 5);
                        found += wind([&chosen, &x] { chosen += x; },
                                      [&chosen, &x, end] {
                                        return below({&x + 1, end}, chosen);
                                      },
                                      [&chosen, &x] { chosen -= x; });
                      },
                      [&chosen, here, end](std::span<const int> part) {
                        EXPECT_EQ(chosen, here);
                        return rest{{part.data(), end}, part.size(), chosen};
                      });
  }
  /// Those that begin with one of the first elements of `left`.
  struct rest {
    std::span<const int> left;
    std::size_t first;
    long chosen;
    long run() {
      long found = 0;
      for (std::size_t i = 0; i < first; ++i) {
        long with = chosen + left[i];
        found += below(left.subspan(i + 1), with);
      }
      return found;
    }
  };
};

TEST_P(ranges_with, the_loops_wind) {
  subsets s{numbers(10)};
  EXPECT_EQ(rt.run([&s] { return s.run(); }), total_of(10) << 9);
}

TEST_P(ranges_with, the_earliest_element_throws) {
  std::vector<int> vector = numbers(60);
  for (int first = 1; first <= 60; first += 7) {
    int thrown = 0;
    try {
      rt.run([&] {
        each(vector, [first](int x) {
          if (value_of(x) >= first) throw x;
        });
      });
    } catch (int x) { thrown = x; }
    EXPECT_EQ(thrown, first);
  }
}

TEST(ranges, run_on_a_thread_that_is_no_worker) {
  EXPECT_EQ(sum(numbers(100), value), total_of(100));
}

}  // namespace
}  // namespace cleave::tests
