// The stack of a worker that helps while it waits stays within the bound that DESIGN.md promises.
#include "core/requests.hpp"

#include <bit>
#include <chrono>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

// Take any path of the sequential program from its root to a leaf: on it are F frames (of loops,
// both and steps), B of them of `both`, and loops of n_1 … n_L iterations. A worker's list holds
// the frames of such a path and one scope frame for each task that it is inside of.
//   While a worker waits for a part of a frame, that frame is off the list, and what it runs
//   meanwhile is a part of what it waits for: it lies further down the same path. So no frame of
//   the path stands twice on the list; the tasks it is inside of are nested, each a part of a frame
//   of the one before. A part of a `both` has that `both` no more. A loop's part is a loop again:
//   of the k iterations left after the current one, at most ceil(k / 2) < n are given, so a loop of
//   n >= 2 that came from c nested splits has at most n / 2^c iterations (ceil((n - 1) / 2) <= n /
//   2), and one of 1 cannot be split: c <= floor(log2 n). Tasks: the root, at most one for each
//   `both`, at most floor(log2 n_l) for each loop.
// Hence deepest <= F + 1 + B + sum over l of floor(log2 n_l). (CLEAVE_CHECK runs parts in the
// middle of what they are split from; the bound is not for it.)
struct shape {
  int levels, width;
};

struct grid {
  std::vector<int> w;
  shape s;
  int level, from, to;
  long run() { return over(w, s, level, from, to); }
  static long over(std::vector<int>& w, shape s, int level, int from, int to) {
    return sum(
        from, to,
        [&w, s, level](int i) -> long {
          step mark{[&w, i] { w.push_back(i); }, [&w] { w.pop_back(); }};
          poll();
          if (level + 1 < s.levels) return over(w, s, level + 1, 0, s.width);
          auto [a, b] = both(
              [] {
                poll();
                return 1;
              },
              [] {
                poll();
                return 1;
              });
          return a + b;
        },
        [&w, s, level](int f, int t) {
          return grid{w, s, level, f, t};
        });
  }
};

/// A loop of iterations that take long, by chance: its parts are waited for.
struct slow {
  int from, to;
  std::uint64_t seed;
  long run() { return over(from, to, seed); }
  static long over(int from, int to, std::uint64_t seed) {
    return sum(
        from, to,
        [=](int i) -> long {
          const std::uint64_t x = mix(seed + static_cast<std::uint64_t>(i));
          std::this_thread::sleep_for(std::chrono::microseconds(x % 128));
          poll();
          return 1;
        },
        [=](int f, int t) {
          return slow{f, t, seed};
        });
  }
};

/// Many such loops at once: whoever waits could find something to do in another one, and then in
/// the next.
TEST(stack_bound, holds_where_there_is_much_else_to_do) {
  static constexpr int width = 8;
  constexpr unsigned bound = 1 + 1 + 3;  // its frame, the root's scope, log2(width)
  for (int workers : {8, 32}) {
    runtime rt(options{.workers = workers, .cutoff = false});
    std::vector<std::thread> users;
    for (std::uint64_t user = 0; user < 16; ++user)
      users.emplace_back([&rt, user] {
        for (std::uint64_t k = 0; k < 50; ++k)
          EXPECT_EQ(rt.run([=] { return slow::over(0, width, user << 32 | k << 8); }), width);
      });
    for (std::thread& t : users) t.join();
    EXPECT_LE(rt.statistics().deepest, bound) << workers << " workers";
    EXPECT_GT(rt.statistics().splits, 0u);
  }
}

TEST(stack_bound, holds) {
  for (int workers : {1, 2, 3, 8, 32}) {
    for (shape s : {shape{3, 16}, shape{2, 60}, shape{1, 5000}, shape{5, 5}, shape{1, 2}}) {
      std::uint64_t leaves = 2;
      for (int l = 0; l < s.levels; ++l) leaves *= static_cast<std::uint64_t>(s.width);
      runtime rt(
          options{.workers = workers, .stack_bytes = std::size_t{16} << 20, .cutoff = false});
      for (int k = 0; k < 20; ++k) {
        EXPECT_EQ(rt.run([s] {
          std::vector<int> w;
          return grid::over(w, s, 0, 0, s.width);
        }),
                  static_cast<long>(leaves));
      }
      const auto levels = static_cast<unsigned>(s.levels);
      const unsigned frames = levels * 2 + 1;  // a loop and a step on each level, and the both
      const unsigned log =
          static_cast<unsigned>(std::bit_width(static_cast<unsigned>(s.width))) - 1;
      EXPECT_LE(rt.statistics().deepest, frames + 1 + 1 + levels * log)
          << workers << " workers, " << s.levels << " levels of " << s.width;
      if (workers == 1) { EXPECT_EQ(rt.statistics().splits, 0u); }
    }
  }
}

}  // namespace
}  // namespace cleave::tests
