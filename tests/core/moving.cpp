// Closures, tasks and results that only move.
#include "core/requests.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleave::tests {
namespace {

class moving_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(moving_with);

using pointer = std::unique_ptr<int>;

/// A number that is only moved, and can be added up.
struct amount {
  pointer p = std::make_unique<int>(0);
  amount() = default;
  explicit amount(int n) : p(std::make_unique<int>(n)) {}
  amount& operator+=(amount&& other) {
    *p += *other.p;
    return *this;
  }
};

TEST_P(moving_with, closures_and_results_of_run) {
  EXPECT_EQ(*rt.run([p = std::make_unique<int>(3)] { return std::make_unique<int>(*p); }), 3);
  EXPECT_EQ(rt.run([p = std::make_unique<int>(3)]() mutable { return *p; }), 3);
}

TEST_P(moving_with, closures_and_results_of_a_scope) {
  rt.run([] {
    cancel_scope s;
    const auto done = s.run([p = std::make_unique<int>(3)]() mutable { return std::move(p); });
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(**done, 3);
  });
}

struct owned {
  pointer p;
  pointer run() { return std::move(p); }
};

TEST_P(moving_with, closures_puts_and_results_of_both) {
  for (bool split : {false, true}) {
    rt.run([split] {
      auto [a, b] = both(
          [split, p = std::make_unique<int>(3)]() mutable {
            if (split) force_split();
            return std::move(p);
          },
          [p = std::make_unique<int>(4)]() mutable { return std::move(p); });
      EXPECT_EQ(*a * 10 + *b, 34);
      auto [c, d] = both(
          [split] {
            if (split) force_split();
          },
          [p = std::make_unique<int>(5)]() mutable { return std::move(p); },
          [p = std::make_unique<int>(5)]() mutable { return owned{std::move(p)}; });
      EXPECT_EQ(*d, 5);
    });
  }
}

TEST_P(moving_with, bodies_puts_and_results_of_sum) {
  rt.run([] {
    const amount total = sum(
        0, 100,
        [p = std::make_unique<int>(7)](int i) {
          disturb(static_cast<std::uint64_t>(i));
          return amount(i + *p - 7);
        },
        [p = std::make_unique<int>(7)](int from, int to) {
          struct part {
            int from, to;
            pointer seven;
            amount run() {
              amount some;
              for (int i = from; i < to; ++i) some += amount(i + *seven - 7);
              return some;
            }
          };
          return part{from, to, std::make_unique<int>(*p)};
        });
    EXPECT_EQ(*total.p, 4950);
  });
}

TEST_P(moving_with, results_of_sum) {
  rt.run([] {
    EXPECT_EQ(*sum(0, 100,
                   [](int i) {
                     disturb(static_cast<std::uint64_t>(i));
                     return amount(i);
                   })
                   .p,
              4950);
    const std::vector<int> ones(100, 1);
    EXPECT_EQ(*sum(ones, [](int i) { return amount(i); }).p, 100);
  });
}

TEST_P(moving_with, identities_bodies_merges_and_puts_of_reduce) {
  rt.run([] {
    const pointer greatest = reduce(
        0, 100, std::make_unique<int>(-1),
        [p = std::make_unique<int>(7)](int i) {
          disturb(static_cast<std::uint64_t>(i));
          return std::make_unique<int>(i * *p % 100);
        },
        [p = std::make_unique<int>(0)](pointer a, pointer b) mutable {
          return *a + *p < *b ? std::move(b) : std::move(a);
        },
        [p = std::make_unique<int>(7)](int from, int to) {
          struct part {
            int from, to, times;
            pointer run() {
              int most = -1;
              for (int i = from; i < to; ++i) most = std::max(most, i * times % 100);
              return std::make_unique<int>(most);
            }
          };
          return part{from, to, *p};
        });
    EXPECT_EQ(*greatest, 99);
  });
}

TEST_P(moving_with, bodies_puts_and_gets_of_each) {
  rt.run([] {
    std::vector<int> parts(100, 1);
    int here = 0, there = 0;
    const auto body = [&here] {
      return [&here, p = std::make_unique<int>(1)](int i) {
        disturb(static_cast<std::uint64_t>(i));
        here += *p;
      };
    };
    const auto get = [&there] {
      return [&there, p = std::make_unique<int>(1)](pointer n) { there += *n * *p; };
    };
    each(
        0, 100, body(),
        [p = std::make_unique<int>(1)](int from, int to) {
          return owned{std::make_unique<int>((to - from) * *p)};
        },
        get());
    EXPECT_EQ(here + there, 100);
    each(
        parts, body(),
        [p = std::make_unique<int>(1)](std::span<int> part) {
          return owned{std::make_unique<int>(static_cast<int>(part.size()) * *p)};
        },
        get());
    EXPECT_EQ(here + there, 200);
  });
}

int read(pointer p) { return *p; }
int take(pointer&& p) { return *std::exchange(p, nullptr); }

TEST_P(moving_with, arguments_of_call) {
  rt.run([] {
    auto [a, b, c] = all([] { force_split(); }, call<read>(std::make_unique<int>(3)),
                         call<take>(std::make_unique<int>(4)));
    EXPECT_EQ(b * 10 + c, 34);
  });
}

TEST_P(moving_with, closures_of_steps) {
  rt.run([] {
    int n = 0;
    {
      step made{[&n, p = std::make_unique<int>(3)] { n += *p; },
                [&n, p = std::make_unique<int>(3)] { n -= *p; }};
      EXPECT_EQ(n, 3);
    }
    EXPECT_EQ(n, 0);
  });
}

TEST_P(moving_with, closures_of_a_group) {
  rt.run([] {
    std::atomic<int> n{0};
    task_group g;
    g.spawn([&n, p = std::make_unique<int>(3)] { n += *p; });
    g.wait();
    EXPECT_EQ(n, 3);
  });
}

}  // namespace
}  // namespace cleave::tests
