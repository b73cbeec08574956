// labels: deep
// The cost of going back: the search for the oldest frame is amortised against pushes.
#include "core/requests.hpp"

namespace cleave::tests {
namespace {

/// A recursion that goes down and up again and again, like a real search, and splits at one place
/// in `rarity`.
long comb(int depth, std::uint64_t seed, std::uint64_t rarity, std::atomic<long>& pushes) {
  if (mix(seed) % rarity == 0) force_split();
  if (depth == 0) return 1;
  pushes.fetch_add(1, std::memory_order_relaxed);
  auto [a, b] = both(
      [=, &pushes] { return comb(depth - 1, seed * 2, rarity, pushes); },
      [=, &pushes] { return depth % 3 == 0 ? comb(depth - 2, seed * 2 + 1, rarity, pushes) : 1; });
  return a + b;
}

/// Every frame is taken in at most once after its push, and passed by a cursor once for each scope
/// it is inside of (the root, and one more for each part being run below it on the same stack,
/// which is a log of what was split); asking an answerable question again costs nothing. So:
/// searched <= c * (pushes + splits).
TEST(search, is_amortised_against_pushes_and_splits) {
  for (std::uint64_t rarity : {1, 2, 10, 1000}) {
    runtime rt(options{.workers = 1});
    std::atomic<long> pushes{0};
    rt.run([&] { return comb(54, 1, rarity, pushes); });
    const auto s = rt.statistics();
    EXPECT_GT(s.splits, 10u);
    EXPECT_LE(s.searched, 3 * (static_cast<std::uint64_t>(pushes) + s.splits)) << rarity;
  }
}

/// Requests that cannot be met are looked at again at the next construct: that must not search the
/// stack again.
TEST(search, of_a_stack_with_nothing_to_give_is_not_repeated) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    struct descent {
      static void go(int depth) {
        force_split();
        if (depth > 0) return both([=] { go(depth - 1); }, [] {});
        for (int k = 0; k < 100'000; ++k) force_split();
      }
    };
    descent::go(1000);
  });
  EXPECT_LE(rt.statistics().searched, 10'000u);
}

/// A descent with a split at every level looks at each frame a few times, however deep it is.
TEST(search, of_a_descent_grows_with_its_depth_only) {
  struct descent {
    static int go(int depth) {
      if (depth == 0) return 0;
      auto [a, b] = both([=] { return go(depth - 1); }, [] { return 1; });
      return a + b;
    }
  };
  for (int depth : {1'000, 3'000, 48'000}) {
    runtime rt(options{.check = true});
    EXPECT_EQ(rt.run([=] { return descent::go(depth); }), depth);
    const auto s = rt.statistics();
    const auto levels = static_cast<std::uint64_t>(depth);
    EXPECT_GE(s.splits, levels);
    EXPECT_GE(s.searched, levels);
    EXPECT_LE(s.searched, 3 * levels);
  }
}

}  // namespace
}  // namespace cleave::tests
