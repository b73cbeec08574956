// `sum` and `reduce`: all forms, results in program order.
#include "core/requests.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace cleave::tests {
namespace {

class sum_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(sum_with);

std::string spelled(int from, int to) {
  std::string s;
  for (int i = from; i < to; ++i) s += std::to_string(i) + ",";
  return s;
}

TEST_P(sum_with, a_body) {
  for (int n : {-1, 0, 1, 2, 3, 10, 1000}) {
    EXPECT_EQ(rt.run([n] {
      return sum(0, n, [](int i) {
        disturb(static_cast<std::uint64_t>(i));
        return long{i};
      });
    }),
              n < 0 ? 0 : long{n} * (n - 1) / 2);
  }
}

/// The task of a workspace: a vector that a step changes.
struct tally {
  std::vector<int> w;
  int from, to;
  long run() { return over(w, from, to); }
  static long over(std::vector<int>& w, int from, int to) {
    return sum(
        from, to,
        [&w](int i) -> long {
          const auto at = static_cast<std::size_t>(i) % w.size();
          step add{[&w, at] { w[at] += 1; }, [&w, at] { w[at] -= 1; }};
          disturb(static_cast<std::uint64_t>(i));
          long n = 0;
          for (int x : w) n += x;
          return n * i;
        },
        [&w](int f, int t) {
          return tally{w, f, t};
        });
  }
};

TEST_P(sum_with, a_put) {
  for (int n : {0, 1, 2, 500}) {
    EXPECT_EQ(rt.run([n] {
      std::vector<int> w(7, 0);
      const long total = tally::over(w, 0, n);
      EXPECT_EQ(w, std::vector<int>(7, 0));
      return total;
    }),
              long{n} * (n - 1) / 2);
  }
}

TEST_P(sum_with, terms_that_do_not_commute) {
  for (int n : {0, 1, 2, 3, 400}) {
    EXPECT_EQ(rt.run([n] {
      return sum(0, n, [](int i) {
        disturb(static_cast<std::uint64_t>(i), 2);
        return std::to_string(i) + ",";
      });
    }),
              spelled(0, n));
  }
}

struct spelling {
  int from, to;
  std::string run() { return over(from, to); }
  static std::string over(int from, int to) {
    return reduce(
        from, to, std::string(),
        [](int i) {
          disturb(static_cast<std::uint64_t>(i), 2);
          return std::to_string(i) + ",";
        },
        [](std::string a, const std::string& b) { return std::move(a) + b; },
        [](int f, int t) {
          return spelling{f, t};
        });
  }
};

/// The same with a body that adds to the total itself: with `i` written twice by a loop of its own.
/// Or it also takes a wind.
struct doubled_spelling {
  int from, to;
  bool winding;
  std::string run() { return over(from, to, winding); }
  static std::string over(int from, int to, bool winding) {
    auto body = [](int i, std::string& total) {
      for (int k = 0; k < 2; ++k) {
        disturb(static_cast<std::uint64_t>(i), 2);
        total += std::to_string(i) + ",";
      }
    };
    auto put = [=](int f, int t) { return doubled_spelling{f, t, winding}; };
    if (!winding) return sum(from, to, body, put);
    auto winds = [=](int i, std::string& total, auto wind) {
      wind([] {}, [=, &total] { body(i, total); }, [] {});
    };
    return sum(from, to, winds, put);
  }
};

TEST_P(sum_with, a_body_that_adds_to_the_total) {
  for (bool winding : {false, true})
    for (int n : {0, 1, 2, 3, 400}) {
      std::string expected;
      for (int i = 0; i < n; ++i) expected += spelled(i, i + 1) + spelled(i, i + 1);
      EXPECT_EQ(rt.run([=] { return doubled_spelling::over(0, n, winding); }), expected);
    }
}

TEST_P(sum_with, reduce_without_and_with_a_put) {
  for (int n : {0, 1, 2, 3, 400}) {
    EXPECT_EQ(rt.run([n] {
      return reduce(
          0, n, std::string(),
          [](int i) {
            disturb(static_cast<std::uint64_t>(i), 2);
            return std::to_string(i) + ",";
          },
          [](std::string a, const std::string& b) { return std::move(a) + b; });
    }),
              spelled(0, n));
    EXPECT_EQ(rt.run([n] { return spelling::over(0, n); }), spelled(0, n));
  }
}

TEST_P(sum_with, an_empty_loop_gives_the_identity) {
  EXPECT_EQ(rt.run([] {
    return reduce(
        5, 5, std::string("none"), [](int) { return std::string("x"); },
        [](std::string a, const std::string& b) { return a + b; });
  }),
            "none");
  EXPECT_EQ(rt.run([] { return sum(9, 2, [](int) { return 1.5; }); }), 0.0);
}

/// A result that only moves, in a list.
struct chain {
  int value = 0;
  std::unique_ptr<chain> next;
  chain* end() { return next ? next->end() : this; }
};
using chain_ptr = std::unique_ptr<chain>;

struct chain_task {
  int from, to;
  chain_ptr run() { return over(from, to); }
  static chain_ptr over(int from, int to) {
    return reduce(
        from, to, chain_ptr(),
        [](int i) {
          disturb(static_cast<std::uint64_t>(i), 2);
          auto c = std::make_unique<chain>();
          c->value = i;
          return c;
        },
        [](chain_ptr a, chain_ptr b) {
          if (!a) return b;
          if (b) a->end()->next = std::move(b);
          return a;
        },
        [](int f, int t) {
          return chain_task{f, t};
        });
  }
};

TEST_P(sum_with, results_that_only_move) {
  rt.run([] {
    int expected = 0;
    for (chain_ptr c = chain_task::over(0, 100); c; c = std::move(c->next)) {
      EXPECT_EQ(c->value, expected++);
    }
    EXPECT_EQ(expected, 100);
  });
}

TEST_P(sum_with, a_body_that_is_large_and_not_trivial) {
  const std::vector<long> table(1000, 3);
  EXPECT_EQ(rt.run([&table] {
    return sum(0, 1000, [table](int i) {
      disturb(static_cast<std::uint64_t>(i));
      return table[static_cast<std::size_t>(i)];
    });
  }),
            3000);
}

TEST_P(sum_with, a_body_of_constructs_only) {  // nothing but the loop itself polls
  const auto total = rt.run([] { return sum(0, 100'000, [](int i) { return long{i} * i; }); });
  EXPECT_EQ(total, 333'328'333'350'000);
}

TEST_P(sum_with, a_merge_that_needs_associativity_only) {  // composition of affine maps modulo 2^64
  struct affine {
    std::uint64_t a = 1, b = 0;
    bool operator==(const affine&) const = default;
  };
  const auto after = [](affine f, affine g) { return affine{f.a * g.a, f.b * g.a + g.b}; };
  const auto body = [](int i) {
    disturb(static_cast<std::uint64_t>(i));
    return affine{mix(static_cast<std::uint64_t>(i)) | 1, mix(static_cast<std::uint64_t>(i) + 77)};
  };
  affine expected;
  for (int i = 0; i < 5000; ++i) expected = after(expected, body(i));
  const affine got = rt.run([=] { return reduce(0, 5000, affine{}, body, after); });
  EXPECT_EQ(got, expected);
}

struct halves {
  int from, to;
  short run() { return static_cast<short>(30'000 * (to - from)); }
};

TEST_P(sum_with, numbers_that_are_added_up_in_64_bits) {
  rt.run([] {
    const auto small = sum(0, 1000, [](int i) { return static_cast<unsigned char>(i & 1); });
    static_assert(std::is_same_v<decltype(small), const std::int64_t>);
    EXPECT_EQ(small, 500);
    const auto large = sum(0, 100, [](int i) {
      disturb(static_cast<std::uint64_t>(i), 2);
      return 2'000'000'000;
    });
    EXPECT_EQ(large, 200'000'000'000);
    const auto counted = sum(0, 9, [](int i) { return i % 3 == 0; });
    static_assert(std::is_same_v<decltype(counted), const std::int64_t>);
    EXPECT_EQ(counted, 3);
    const auto without_sign = sum(0, 3, [](int) { return 4'000'000'000u; });
    static_assert(std::is_same_v<decltype(without_sign), const std::uint64_t>);
    EXPECT_EQ(without_sign, 12'000'000'000u);
    static_assert(std::is_same_v<decltype(sum(0, 3, [](int) { return 1.0f; })), float>);
  });
}

TEST_P(sum_with, a_total_whose_type_is_named) {
  rt.run([] {
    const auto wide = sum<double>(0, 100, [](int i) {
      disturb(static_cast<std::uint64_t>(i), 2);
      return 0.25f;
    });
    static_assert(std::is_same_v<decltype(wide), const double>);
    EXPECT_EQ(wide, 25);
    const auto narrow = sum<std::uint8_t>(0, 300, [](int) { return 1; });
    static_assert(std::is_same_v<decltype(narrow), const std::uint8_t>);
    EXPECT_EQ(narrow, 44);
    const auto merged = reduce<double>(
        0, 9, 0,
        [](int i) {
          disturb(static_cast<std::uint64_t>(i), 2);
          return 2.5;
        },
        std::plus<>());
    static_assert(std::is_same_v<decltype(merged), const double>);
    EXPECT_EQ(merged, 22.5);
  });
}

TEST_P(sum_with, parts_of_a_narrow_type) {  // each fits into it, and their sum does not
  rt.run([] {
    const auto all = sum(
        0, 2,
        [](int i) {
          disturb(static_cast<std::uint64_t>(i), 2);
          return short{30'000};
        },
        [](int from, int to) {
          return halves{from, to};
        });
    static_assert(std::is_same_v<decltype(all), const std::int64_t>);
    EXPECT_EQ(all, 60'000);
  });
}

}  // namespace
}  // namespace cleave::tests
