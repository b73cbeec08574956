// labels: slow
// Loops over every integer type, up to the limits of the type.
#include "core/requests.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>

namespace cleave::tests {
namespace {

// One for each size and sign; and types that are others to the language, of the same sizes.
template <class I>
class loop_over : public testing::Test {};
using integers = testing::Types<signed char, unsigned char, short, unsigned short, int, unsigned,
                                long, unsigned long>;
TYPED_TEST_SUITE(loop_over, integers);
template <class I>
class loop_over_any : public testing::Test {};
using all_integers =
    testing::Types<char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                   unsigned long, long long, unsigned long long, char16_t, wchar_t>;
TYPED_TEST_SUITE(loop_over_any, all_integers);

/// Runs [first, last), at most 1000 iterations of it, and expects each exactly once and in order.
template <class I>
void expect_each_once(runtime& rt, I first, I last, std::size_t count) {
  ledger done(count);
  const auto number = [first](I i) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(i) -
                                    static_cast<std::uint64_t>(first));
  };
  const std::uint64_t total = rt.run([&] {
    return sum(first, last, [&done, number](I i) -> std::uint64_t {
      if (number(i) < 1000) done.enter(number(i));
      disturb(number(i));
      return number(i) + 1;
    });
  });
  EXPECT_EQ(done.wrong(), 0u);
  EXPECT_EQ(total, std::uint64_t{count} * (count + 1) / 2);

  const auto order = rt.run([&] {
    return reduce(
        first, last, std::vector<std::size_t>{},
        [number](I i) {
          disturb(number(i), 2);
          return std::vector<std::size_t>{number(i)};
        },
        [](std::vector<std::size_t> a, const std::vector<std::size_t>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
  });
  ASSERT_EQ(order.size(), count);
  for (std::size_t k = 0; k < count; ++k) ASSERT_EQ(order[k], k);
}

template <class I>
void expect_all_ranges(int workers) {
  using limits = std::numeric_limits<I>;
  runtime rt(options{.workers = workers, .stack_bytes = std::size_t{16} << 20});
  const auto near = static_cast<I>(100);
  struct range {
    I first, last;
    std::size_t count;
  };
  std::vector<range> ranges = {
      {0, 0, 0},
      {limits::max(), limits::min(), 0},
      {limits::max(), limits::max(), 0},
      {7, 8, 1},
      {0, near, 100},
      {static_cast<I>(limits::max() - near), limits::max(), 100},
      {limits::min(), static_cast<I>(limits::min() + near), 100},
  };
  if (limits::is_signed) ranges.push_back({static_cast<I>(-near), near, 200});
  if (sizeof(I) == 1) ranges.push_back({limits::min(), limits::max(), 255});
  for (const range& r : ranges) expect_each_once(rt, r.first, r.last, r.count);
}

TYPED_TEST(loop_over, one_worker) { expect_all_ranges<TypeParam>(1); }
TYPED_TEST(loop_over, three_workers) { expect_all_ranges<TypeParam>(3); }

/// The whole range of a wide type: too long to run to its end, so the part given away says what it
/// was asked to do.
template <class I>
struct span_task {
  I from, to;
  std::pair<I, I> run() { return {from, to}; }
};

TYPED_TEST(loop_over_any, splits_the_whole_range_in_the_middle) {
  using I = TypeParam;
  using limits = std::numeric_limits<I>;
  runtime rt(options{.workers = 1, .stack_bytes = std::size_t{16} << 20});
  struct enough {};
  std::pair<I, I> part{};
  bool given = false;
  rt.run([&] {
    try {
      each(
          limits::min(), limits::max(),
          [&](I) {
            if (given) throw enough{};
            force_split();
            given = true;
          },
          [&](I from, I to) {
            part = {from, to};
            return span_task<I>{from, to};
          },
          [](std::pair<I, I>) {});
    } catch (const enough&) {}
  });
  // Iterations min+1 … max-1 remained; the upper half, rounded up, is given.
  const auto left =
      static_cast<std::uint64_t>(limits::max()) - static_cast<std::uint64_t>(limits::min()) - 1;
  EXPECT_EQ(part.second, limits::max());
  EXPECT_EQ(static_cast<std::uint64_t>(part.second) - static_cast<std::uint64_t>(part.first),
            left / 2 + left % 2);
}

TEST(loop_over, bounds_of_two_types) {
  runtime rt(options{.workers = 2});
  const std::vector<int> v(1000, 1);
  EXPECT_EQ(rt.run([&] { return sum(0, v.size(), [&v](std::size_t i) { return v[i]; }); }), 1000);
  EXPECT_EQ(rt.run([] { return sum(short{-5}, 5L, [](long) { return 1; }); }), 10);
  EXPECT_EQ(rt.run([] { return sum(std::uint8_t{0}, 300, [](int) { return 1; }); }), 300);
}

TEST(loop_over, bounds_of_two_signs) {
  runtime rt(options{.workers = 1});
  const std::vector<int> v(10, 1);
  rt.run([&v] {
    std::vector<std::int64_t> seen;
    each(
        -5, 10u, [&seen](auto i) { seen.push_back(i); },
        [](std::int64_t from, std::int64_t to) {
          return span_task<std::int64_t>{from, to};
        },
        [](std::pair<std::int64_t, std::int64_t>) {});
    ASSERT_EQ(seen.size(), 15u);
    EXPECT_EQ(seen.front(), -5);
    EXPECT_EQ(sum(5u, -3, [](auto) { return 1; }), 0);
    EXPECT_EQ(sum(v.size(), -3, [](auto) { return 1; }), 0);
    EXPECT_EQ(reduce(
                  v.size(), -3, 7, [](auto) { return 1; }, std::plus<>()),
              7);
    EXPECT_EQ(sum(3, v.size(), [&v](std::size_t i) { return v[i]; }), 7);
    EXPECT_EQ(sum(-3, std::ssize(v), [](auto) { return 1; }), 13);
    // No type holds -1 and every std::size_t.
    EXPECT_THROW(sum(-1, v.size(), [](auto) { return 1; }), std::out_of_range);
    EXPECT_THROW(each(-1, v.size(), [](auto) {}), std::out_of_range);
  });
}

}  // namespace
}  // namespace cleave::tests
