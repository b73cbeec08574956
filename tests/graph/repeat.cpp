// Rounds of subtasks that are made once: what they compute, exceptions, cancellation, misuse.
#include "core/requests.hpp"
#include "sanitized.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

class repeat_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(repeat_with);

using value = std::uint64_t;

/// Subtasks that use random data in random ways, some of them several, the same in each round; what
/// they compute depends on the round.
struct random_round {
  std::uint64_t seed;
  int data, subtasks;

  std::uint64_t draw(int i, int what) const { return random_at(seed * 100'000 + i * 16 + what); }
  int datum_of(int i, int k) const { return static_cast<int>(draw(i, k) % data); }
  enum kind { none, read, write, change, two, sum, kinds };
  kind kind_of(int i) const { return static_cast<kind>(draw(i, 8) % kinds); }

  std::vector<value> by_calls(int rounds) const {
    std::vector<value> v(data);
    std::vector<value> read_last(subtasks);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < subtasks; ++i) {
        value &a = v[datum_of(i, 0)], &b = v[datum_of(i, 1)], &c = v[datum_of(i, 2)];
        switch (kind_of(i)) {
          case none: break;
          case read: read_last[i] = mix(a + read_last[i]); break;
          case write: a = mix(draw(i, 3) + round); break;
          case change: a = mix(a + round); break;
          case two: c = mix(a + 3 * b + round); break;
          default: b += draw(i, 4) + round, c += draw(i, 5) * round;
        }
      }
    }
    v.insert(v.end(), read_last.begin(), read_last.end());
    return v;
  }

  std::vector<value> by_graph(int rounds, bool in_order) const {
    std::vector<value> read_last(subtasks);
    graph g;
    if (in_order) g.earliest_first();
    std::vector<datum<value>> v;
    for (int i = 0; i < data; ++i) v.push_back(g.make<value>(0));
    g.repeat(rounds, [&](std::uint64_t first) {
      subtask before;
      for (int i = 0; i < subtasks; ++i) {
        const auto a = v[datum_of(i, 0)], b = v[datum_of(i, 1)], c = v[datum_of(i, 2)];
        const value x = draw(i, 3), y = draw(i, 4), z = draw(i, 5);
        value& last = read_last[i];
        switch (kind_of(i)) {
          case none: before = g.run([x] { disturb(x); }, after(before)); break;
          case read:
            before = g.run([&last, x](const value& r) { disturb(x), last = mix(r + last); }, in(a));
            break;
          case write:
            g.run([x, round = first](value& w) mutable { w = mix(x + round++); }, out(a),
                  after(before));
            break;
          case change:
            g.run([x, round = first](value& w) mutable { disturb(x), w = mix(w + round++); },
                  inout(a));
            break;
          case two:
            g.run(
                [y, round = first](const value& r, const value& s, value& w) mutable {
                  const value p = r, q = s;
                  disturb(y), w = mix(p + 3 * q + round++);
                },
                in(a), in(b), out(c));
            break;
          default:
            g.run([y, z, round = first](
                      value& s, value& t) mutable { s += y + round, disturb(z), t += z * round++; },
                  add(b), add(c));
        }
      }
    });
    EXPECT_TRUE(g.wait());
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    result.insert(result.end(), read_last.begin(), read_last.end());
    return result;
  }
};

TEST_P(repeat_with, random_rounds) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const int data = seed % 4 == 0 ? 2 : 9;
    const random_round p{seed, data, static_cast<int>(1 + seed)};
    const int rounds = static_cast<int>(seed % 7);
    rt.run([&] {
      EXPECT_EQ(p.by_graph(rounds, seed % 5 == 4), p.by_calls(rounds)) << "seed " << seed;
    });
  }
}

TEST_P(repeat_with, subtasks_before_and_after_it) {
  rt.run([] {
    graph g;
    auto n = g.make(1);
    int made = 0;
    g.run([](int& v) { v = 5; }, out(n));
    for (int again = 0; again < 3; ++again) {
      g.repeat(100, [&](std::uint64_t) {
        ++made;
        g.run([](int& v) { disturb(7), ++v; }, inout(n));
      });
      g.run([](int& v) { v += 1'000; }, inout(n));
    }
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*n, 3'305);
    EXPECT_GE(made, 3);
  });
}

/// Of all rounds, what comes after the first that threw has not run, or in vain.
TEST_P(repeat_with, an_exception_in_a_round) {
  rt.run([] {
    graph g;
    auto n = g.make(0), other = g.make(0);
    g.repeat(50, [&](std::uint64_t first) {
      g.run([](int& v) { ++v; }, inout(n));
      g.run(
          [round = first](int& v, const int&) mutable {
            if (++round > 20) throw std::runtime_error("round " + std::to_string(round));
            v = 1;
          },
          inout(other), in(n));
    });
    std::string said;
    try {
      g.wait();
    } catch (const std::runtime_error& e) { said = e.what(); }
    EXPECT_EQ(said, "round 21");
    EXPECT_EQ(*n, 21);
  });
}

TEST_P(repeat_with, a_cancelled_graph_ends) {
  rt.run([] {
    graph g;
    auto n = g.make(0);
    std::atomic<int> ran{0};
    const auto repeats = [&] {
      g.repeat(1'000'000'000, [&](std::uint64_t) {
        g.run(
            [&](int&) {
              if (++ran == 100) g.cancel();
            },
            inout(n));
        g.run([] { poll(); });
      });
    };
    try {
      repeats();
    } catch (...) {}  // a poll tells
    EXPECT_FALSE(g.wait());
    EXPECT_EQ(ran, 100);
  });
}

/// Two that wait for each other: they run in one round at the same time only if two workers do.
TEST(repeat, is_done_by_several_workers) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    graph g;
    std::atomic<int> begun{0};
    g.repeat(20, [&](std::uint64_t first) {
      for (int i = 0; i < 2; ++i) {
        g.run([&begun, round = static_cast<int>(first)]() mutable {
          ++begun;
          while (begun < 2 * round + 2) poll(), std::this_thread::yield();
          ++round;
        });
      }
    });
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(begun, 40);
  });
}

TEST(repeat, makes_them_once) {
  runtime rt(options{.workers = 2});
  int made = 0;
  rt.run([&] {
    graph g;
    auto n = g.make(0);
    g.repeat(1000, [&](std::uint64_t round) {
      EXPECT_EQ(round, 0u);
      ++made;
      g.run([](int& v) { ++v; }, inout(n));
    });
    EXPECT_EQ(*n, 1000);
  });
  EXPECT_EQ(made, 1);
}

TEST(repeat, refuses_what_has_no_place_in_it) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    graph g;
    auto n = g.make(0);
    const auto said = [&](auto what) -> std::string {
      try {
        g.repeat(10, [&](std::uint64_t) {
          g.run([](int& v) { ++v; }, inout(n));
          what();
        });
      } catch (const std::logic_error& e) { return e.what(); }
      return "";
    };
    EXPECT_EQ(said([&] { g.wait(); }), "cleave::graph::repeat: waits for nothing");
    EXPECT_EQ(said([&] { g.make(1); }), "cleave::graph::repeat: makes no datum");
    EXPECT_EQ(said([&] { g.repeat(5, [](std::uint64_t) {}); }),
              "cleave::graph::repeat: not within itself");
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*n, 0);
  });
}

}  // namespace
}  // namespace cleave::tests
