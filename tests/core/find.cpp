// find_first, find_any, any_of, all_of: the loops that end where something is found.
#include "core/idle_workers.hpp"
#include "core/requests.hpp"
#include "sanitized.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

class find_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(find_with);

/// About one place in `rarity` holds what is looked for.
bool is_wanted(int i, std::uint64_t rarity) {
  return random_at(static_cast<std::uint64_t>(i) * 131 + rarity) % rarity == 0;
}
std::optional<int> first_wanted(int from, int to, std::uint64_t rarity) {
  for (int i = from; i < to; ++i)
    if (is_wanted(i, rarity)) return i;
  return {};
}

TEST_P(find_with, the_first_in_order) {
  for (std::uint64_t rarity : {1, 2, 10, 100, 1000, 100'000}) {
    for (int n : {0, 1, 2, 63, 1000}) {
      const auto found = rt.run([=] {
        return find_first(0, n, [=](int i) {
          disturb(static_cast<std::uint64_t>(i), 5);
          return is_wanted(i, rarity);
        });
      });
      EXPECT_EQ(found, first_wanted(0, n, rarity)) << n << " " << rarity;
    }
  }
}

TEST_P(find_with, the_first_in_order_of_what_is_a_few_instructions) {
  std::vector<int> v(sanitized ? 35'000 : 100'000);
  std::iota(v.begin(), v.end(), 0);
  const int* const p = v.data();
  const int n = static_cast<int>(v.size());
  for (int x : {0, 1, 7, 8, 64, 65, 1023, 1024, 1025, 30'000, n - 1, n}) {
    const auto found = rt.run([=] { return find_first(0, n, [=](int i) { return p[i] == x; }); });
    EXPECT_EQ(found, x < n ? std::optional<int>(x) : std::nullopt);
    EXPECT_EQ(rt.run([=] { return any_of(0, n, [=](int i) { return p[i] == x; }); }), x < n);
    EXPECT_EQ(rt.run([=] { return all_of(0, n, [=](int i) { return p[i] != x; }); }), x == n);
  }
}

TEST_P(find_with, any_that_is_there) {
  for (std::uint64_t rarity : {1, 10, 1000, 100'000}) {
    for (int n : {0, 1, 2, 1000}) {
      const auto found = rt.run([=] {
        return find_any(0, n, [=](int i) {
          disturb(static_cast<std::uint64_t>(i), 5);
          return is_wanted(i, rarity);
        });
      });
      const auto first = first_wanted(0, n, rarity);
      ASSERT_EQ(found.has_value(), first.has_value()) << n << " " << rarity;
      EXPECT_TRUE(!found || is_wanted(*found, rarity));
    }
  }
}

/// A result that has to be moved, and that is false in another way than an optional.
TEST_P(find_with, what_the_body_returns) {
  const auto found = rt.run([] {
    return find_first(0, 1000, [](int i) {
      disturb(static_cast<std::uint64_t>(i), 3);
      return i < 321 ? nullptr : std::make_shared<std::string>(std::to_string(i));
    });
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "321");
  const auto any = rt.run([] {
    return find_any(0, 1000, [](int i) {
      disturb(static_cast<std::uint64_t>(i), 3);
      return i < 321 ? std::unique_ptr<int>() : std::make_unique<int>(i);
    });
  });
  ASSERT_TRUE(any);
  EXPECT_GE(*any, 321);
}

TEST_P(find_with, bounds_of_all_integers) {
  rt.run([] {
    EXPECT_EQ(find_first(-5, 5, [](int i) { return i > -3; }), -2);
    EXPECT_EQ(find_first(0u, 5u, [](unsigned i) { return i > 3; }), 4u);
    EXPECT_EQ(find_first(5, 0, [](int) { return true; }), std::nullopt);
    EXPECT_TRUE(all_of(5, 0, [](int) { return false; }));
    EXPECT_FALSE(any_of(5, 0, [](int) { return true; }));
    constexpr auto most = std::numeric_limits<unsigned char>::max();
    EXPECT_EQ(find_first(most, most, [](unsigned char) { return true; }), std::nullopt);
    EXPECT_EQ(
        find_first(static_cast<unsigned char>(0), most, [](unsigned char i) { return i == 254; }),
        254);
    EXPECT_THROW(find_first(-1, std::size_t{5}, [](std::size_t) { return true; }),
                 std::out_of_range);
  });
}

/// On one worker nothing runs after what was found, whatever the loop is: it is a `break`.
TEST(find, ends_as_a_break_does) {
  runtime rt(options{.workers = 1});
  for (int x : {0, 1, 7, 8, 9, 63, 64, 65, 500, 999}) {
    rt.run([x] {
      for (int repeat = 0; repeat < 50; ++repeat) {  // framed and beyond the cutoff
        int last = -1;
        EXPECT_EQ(find_first(0, 1000, [&, x](int i) { return last = i, i == x; }), x);
        EXPECT_EQ(last, x);
        EXPECT_TRUE(any_of(0, 1000, [&, x](int i) { return last = i, i == x; }));
        EXPECT_EQ(last, x);
        EXPECT_FALSE(all_of(0, 1000, [&, x](int i) { return last = i, i != x; }));
        EXPECT_EQ(last, x);
      }
    });
  }
  EXPECT_EQ(rt.statistics().splits, 0u);
}

TEST_P(find_with, nested_loops) {
  const auto plain = []() -> std::optional<int> {
    for (int i = 0; i < 40; ++i) {
      for (int j = 0; j < 40; ++j)
        if (is_wanted(i * 40 + j, 700)) return i * 40 + j;
    }
    return {};
  };
  for (int k = 0; k < 10; ++k) {
    const auto found = rt.run([] {
      return find_first(0, 40, [](int i) {
        return find_first(0, 40, [i](int j) {
          disturb(static_cast<std::uint64_t>(i * 40 + j), 4);
          return is_wanted(i * 40 + j, 700) ? std::optional<int>(i * 40 + j) : std::nullopt;
        });
      });
    });
    EXPECT_EQ(found, plain());
  }
}

// ---- in a workspace

/// Permutations whose neighbours differ by two or more and whose first half has an odd sum.
struct row {
  int n = 0;
  std::vector<int> placed{};
  unsigned used = 0;

  bool fits(int x) const {
    return (used >> x & 1) == 0 && (placed.empty() || std::abs(placed.back() - x) > 1);
  }
  void place(int x) { placed.push_back(x), used |= 1u << x; }
  void remove() { used &= ~(1u << placed.back()), placed.pop_back(); }
  bool is_done() const {
    return static_cast<int>(placed.size()) == n &&
           std::accumulate(placed.begin(), placed.begin() + n / 2, 0) % 7 == 3;
  }
};
using arrangement = std::optional<std::vector<int>>;

arrangement plain_search(row& r) {
  if (r.is_done()) return r.placed;
  for (int x = 0; x < r.n; ++x) {
    if (!r.fits(x)) continue;
    r.place(x);
    auto found = plain_search(r);
    r.remove();
    if (found) return found;
  }
  return {};
}

template <bool ordered>
arrangement search(row& r);
template <bool ordered>
arrangement search_between(row& r, int from, int to) {
  const auto body = [&r](int x, auto wind) -> arrangement {
    if (!r.fits(x)) return {};
    return wind([&r, x] { r.place(x); },
                [&r, x] {
                  disturb(static_cast<std::uint64_t>(x) + r.placed.size() * 100, 11);
                  return search<ordered>(r);
                },
                [&r] { r.remove(); });
  };
  const auto put = [&r](int f, int t) {
    struct part {
      row r;
      int from, to;
      arrangement run() { return search_between<ordered>(r, from, to); }
    };
    return part{r, f, t};
  };
  if constexpr (ordered) return find_first(from, to, body, put);
  else return find_any(from, to, body, put);
}
template <bool ordered>
arrangement search(row& r) {
  if (r.is_done()) return r.placed;
  return search_between<ordered>(r, 0, r.n);
}

TEST_P(find_with, a_workspace_and_steps) {
  for (int n : {3, 5, 6, 7}) {
    row sequential{.n = n};
    const arrangement first = plain_search(sequential);
    for (int k = 0; k < 3; ++k) {
      rt.run([&] {
        row r{.n = n};
        EXPECT_EQ(search<true>(r), first) << n;
        EXPECT_TRUE(r.placed.empty());
        const arrangement any = search<false>(r);
        EXPECT_TRUE(r.placed.empty());
        ASSERT_EQ(any.has_value(), first.has_value());
        if (any) {
          row check{.n = n};
          for (int x : *any) {
            EXPECT_TRUE(check.fits(x));
            check.place(x);
          }
          EXPECT_TRUE(check.is_done());
        }
      });
    }
  }
}

// ---- exceptions and cancellation

TEST_P(find_with, what_earlier_iterations_throw_and_not_what_later_ones_do) {
  for (int k = 0; k < 10; ++k) {
    const auto look = [](int found_at, int thrown_at) {
      return find_first(0, 300, [=](int i) {
        disturb(static_cast<std::uint64_t>(i), 4);
        if (i == thrown_at) throw std::runtime_error("x");
        return i == found_at;
      });
    };
    EXPECT_EQ(rt.run([=] { return look(100, 200); }), 100);
    EXPECT_THROW(rt.run([=] { return look(200, 100); }), std::runtime_error);
    EXPECT_THROW(rt.run([=] { return look(-1, 299); }), std::runtime_error);
  }
}

TEST_P(find_with, a_scope_around_it_is_cancelled) {
  for (int k = 0; k < 10; ++k) {
    rt.run([] {
      for (bool ordered : {false, true}) {
        cancel_scope s;
        const auto body = [&s](int i) {
          disturb(static_cast<std::uint64_t>(i), 3);
          if (i == 150) s.cancel();
          poll();
          return false;
        };
        EXPECT_EQ(
            s.run([&] { return ordered ? find_first(0, 300, body) : find_any(0, 300, body); }),
            std::nullopt);
        poll();
      }
    });
  }
}

/// Computes until it is cancelled, unless the test goes on without that for long.
void endless() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) poll();
  ADD_FAILURE() << "nobody has cancelled it";
}

/// The owner finds something while a thief is in a later iteration that does not end.
TEST(find, cancels_what_was_given_of_later_iterations) {
  runtime rt(options{.workers = 2});
  for (int k = 0; k < 5; ++k) {
    rt.run([] {
      std::atomic<bool> begun{false};
      EXPECT_EQ(find_first(0, 10,
                           [&begun](int i) {
                             if (i == 0) return false;
                             if (i >= 5) {
                               begun = true;
                               endless();
                             }
                             while (!begun) poll();
                             return true;
                           }),
                1);
    });
  }
}

/// A thief finds something: the parts of later iterations end, what comes before goes on, and is
/// what counts.
TEST(find, a_part_cancels_later_ones_and_none_before) {
  runtime rt(options{.workers = 3});
  for (int k = 0; k < 5; ++k) {
    std::atomic<bool> late{false}, found{false};
    const auto first = rt.run([&] {
      have_all_compute();
      await_idle_workers();  // nearly always each is given four iterations
      return find_first(0, 12, [&](int i) {
        if (i == 8) {
          late = true;
          endless();
        }
        if (i >= 4 && i < 8) {
          const auto begin = std::chrono::steady_clock::now();
          while (!late && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20))
            poll();
          found = true;
          return true;
        }
        while (i == 0 && !found) poll();
        return false;
      });
    });
    ASSERT_TRUE(first);
    EXPECT_GE(*first, 4);
    EXPECT_LT(*first, 8);
  }
}

/// A thief finds something while the owner is in an iteration that does not end.
TEST(find, any_ends_the_owner_s_iteration) {
  runtime rt(options{.workers = 2});
  for (int k = 0; k < 5; ++k) {
    rt.run([] {
      int steps = 0;
      const auto found = find_any(
          0, 4,
          [&steps](int i) {
            if (i < 2) {
              step counted{[&steps] { ++steps; }, [&steps] { --steps; }};
              both([] { endless(); }, [] {});
            }
            return true;
          },
          [](int f, int) {
            struct part {
              int from;
              std::optional<int> run() const { return from; }
            };
            return part{f};
          });
      ASSERT_TRUE(found);
      EXPECT_GE(*found, 2);
      EXPECT_EQ(steps, 0);
      poll();
    });
  }
}

/// What a body returns may be large, and most of a search finds nothing.
struct found_or_not {
  explicit operator bool() const noexcept { return is_found; }
  found_or_not() = default;
  explicit found_or_not(bool f) noexcept : is_found(f) {}
  found_or_not(const found_or_not& b) noexcept : is_found(b.is_found) { ++copied; }
  found_or_not& operator=(const found_or_not& b) noexcept {
    is_found = b.is_found;
    ++copied;
    return *this;
  }
  bool is_found = false;
  static inline int copied = 0;
};

TEST(find, copies_no_nothing) {
  found_or_not::copied = 0;
  EXPECT_FALSE(find_first(0, 100, [](int) { return found_or_not(); }));
  EXPECT_EQ(found_or_not::copied, 0);
  EXPECT_TRUE(find_first(0, 100, [](int i) { return found_or_not(i == 70); }));
  EXPECT_LE(found_or_not::copied, 2);
}

TEST(find, outside_of_a_runtime) {
  EXPECT_EQ(find_first(0, 10, [](int i) { return i == 7; }), 7);
  EXPECT_TRUE(any_of(0, 10, [](int i) { return i == 7; }));
  EXPECT_FALSE(all_of(0, 10, [](int i) { return i < 7; }));
}

}  // namespace
}  // namespace cleave::tests
