// labels: deep
// Recursion a million frames deep, with splits at every depth: the search for the oldest frame is
// amortised.
#include "core/requests.hpp"

namespace cleave::tests {
namespace {

constexpr int million = 1'000'000;
// Optimised frames of this recursion take some 200 bytes; sanitizers need many times as much.
constexpr std::size_t stack_bytes = std::size_t{16} << 30;

int through_both(int depth) {
  if (depth == 0) return 0;
  auto [a, b] = both([=] { return through_both(depth - 1); }, [] { return 1; });
  return a + b;
}

/// Splits one in a hundred levels on the way down.
int through_both_split(int depth) {
  if (depth == 0) return 0;
  if (depth % 100 == 0) force_split();
  auto [a, b] = both([=] { return through_both_split(depth - 1); }, [] { return 1; });
  return a + b;
}

TEST(deep, both_with_one_worker) {
  runtime rt(options{.workers = 1, .stack_bytes = stack_bytes});
  EXPECT_EQ(rt.run([] { return through_both(million); }), million);
}

TEST(deep, both_with_three_workers) {
  runtime rt(options{.workers = 3, .stack_bytes = stack_bytes});
  EXPECT_EQ(rt.run([] { return through_both(million); }), million);
}

TEST(deep, both_with_splits_on_the_way) {
  for (int workers : {1, 3}) {
    runtime rt(options{.workers = workers, .stack_bytes = stack_bytes});
    EXPECT_EQ(rt.run([] { return through_both_split(million); }), million);
    EXPECT_GE(rt.statistics().splits, 9'999u);  // the first finds nothing to give
    // Each frame is taken in once and passed once by the cursor of each scope that encloses it
    // here: at most the root and one part.
    EXPECT_LE(rt.statistics().searched, 4u * million + rt.statistics().splits);
  }
}

TEST(deep, both_split_at_every_poll) {
  runtime rt(options{.stack_bytes = stack_bytes, .check = true});
  EXPECT_EQ(rt.run([] { return through_both(million); }), million);
  EXPECT_EQ(rt.statistics().splits, std::uint64_t{million});
  EXPECT_LE(rt.statistics().searched, 3u * million);
}

/// A path whose every level is a loop with a step. One loop in a hundred thousand has a second
/// iteration to give: every split goes back through all the steps since.
struct path {
  long marks;
  int depth, from, to;
  long run() { return down(marks, depth, from, to); }
  static long down(long& marks, int depth, int from, int to) {
    if (depth == 0) {
      force_split();
      return 1;
    }
    return sum(
        from, to,
        [&marks, depth](int i) -> long {
          step mark{[&marks, i] { marks += i + 1; }, [&marks, i] { marks -= i + 1; }};
          if (i == 1) return marks;
          return down(marks, depth - 1, 0, (depth - 1) % 100'000 == 0 ? 2 : 1);
        },
        [&marks, depth](int f, int t) {
          return path{marks, depth, f, t};
        });
  }
};

TEST(deep, step_and_sum) {
  for (int workers : {1, 3}) {
    runtime rt(options{.workers = workers, .stack_bytes = stack_bytes});
    // A second iteration at depth d is marked 2 and has the million - d marks around it.
    long expected = 1;
    for (long d = 100'000; d <= million; d += 100'000) expected += million - d + 2;
    EXPECT_EQ(rt.run([] {
      long marks = 0;
      const long n = path::down(marks, million, 0, 2);
      EXPECT_EQ(marks, 0);
      return n;
    }),
              expected);
    EXPECT_GE(rt.statistics().splits, 1u);
    if (workers == 1) { EXPECT_GE(rt.statistics().undone, std::uint64_t{million}); }
  }
}

TEST(deep, an_exception_from_far_down) {
  runtime rt(options{.workers = 2, .stack_bytes = stack_bytes});
  struct bottom {
    static int reach(int depth) {
      if (depth == 0) throw depth;
      auto [a, b] = both([=] { return reach(depth - 1); }, [] { return 1; });
      return a + b;
    }
  };
#ifdef TESTS_UNDER_ADDRESS  // AddressSanitizer does not unwind more than 64 MiB
  constexpr int depth = 5'000;
#else
  constexpr int depth = 100'000;
#endif
  EXPECT_THROW(rt.run([] { return bottom::reach(depth); }), int);
}

}  // namespace
}  // namespace cleave::tests
