// reduce_until: a loop with a state that ends once the state is good enough.
#include "core/requests.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

class reduce_until_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(reduce_until_with);

// ---- game trees: minimax, alpha-beta, and alpha-beta that can be divided

int value_of(std::uint64_t node) { return static_cast<int>(random_at(node) % 201) - 100; }
std::uint64_t child(std::uint64_t node, int i) {
  return mix(node * 31 + static_cast<std::uint64_t>(i));
}
int children(std::uint64_t node) { return 1 + static_cast<int>(mix(node) % 5); }
constexpr int worst = -1000;

int minimax(std::uint64_t node, int depth) {
  if (depth == 0) return value_of(node);
  int best = worst;
  for (int i = 0; i < children(node); ++i)
    best = std::max(best, -minimax(child(node, i), depth - 1));
  return best;
}

int closures(std::uint64_t node, int depth, int alpha, int beta) {
  if (depth == 0) return value_of(node);
  return reduce_until(
      0, children(node), worst,
      [=](int i, int best) {
        disturb(node + static_cast<std::uint64_t>(i), 10);
        return -closures(child(node, i), depth - 1, -beta, -std::max(alpha, best));
      },
      max{}, [=](int best) { return best >= beta; });
}

TEST_P(reduce_until_with, alpha_beta_finds_what_minimax_does) {
  for (std::uint64_t root = 0; root < 40; ++root) {
    const int depth = static_cast<int>(root % 8);
    EXPECT_EQ(rt.run([=] { return closures(root, depth, worst, -worst); }), minimax(root, depth))
        << root;
  }
}

/// The same with one position that moves are made in and taken back.
struct position {
  std::vector<std::uint64_t> path;
  std::uint64_t node() const { return path.back(); }
};
using best_of = shared<int, max>;

int winding(position& p, int depth, int alpha, int beta);
struct part {
  position p;
  int depth, alpha, beta, from, to;
  shared_ref<best_of> state;
  int run();
};
template <class From, class... State>
int winding_between(position& p, int depth, int alpha, int beta, From from, int to,
                    State... state) {
  const auto body = [=, &p](int i, int best, auto wind) {
    return wind([&p, i] { p.path.push_back(child(p.node(), i)); },
                [=, &p] {
                  disturb(p.node(), 10);
                  return -winding(p, depth - 1, -beta, -std::max(alpha, best));
                },
                [&p] { p.path.pop_back(); });
  };
  const auto enough = [=](int best) { return best >= beta; };
  if constexpr (sizeof...(State) == 0) {
    return reduce_until(from, to, worst, body, max{}, enough,
                        [=, &p](int f, int t, shared_ref<best_of> s) {
                          return part{p, depth, alpha, beta, f, t, s};
                        });
  } else {
    return reduce_until(from, to, state..., body, enough,
                        [=, &p](int f, int t, shared_ref<best_of> s) {
                          return part{p, depth, alpha, beta, f, t, s};
                        });
  }
}
int winding(position& p, int depth, int alpha, int beta) {
  if (depth == 0) return value_of(p.node());
  return winding_between(p, depth, alpha, beta, 0, children(p.node()));
}
int part::run() { return winding_between(p, depth, alpha, beta, from, to, state); }

TEST_P(reduce_until_with, a_workspace_and_steps) {
  for (std::uint64_t root = 0; root < 40; ++root) {
    const int depth = static_cast<int>(root % 8);
    rt.run([=] {
      position p{{root}};
      EXPECT_EQ(winding(p, depth, worst, -worst), minimax(root, depth)) << root;
      EXPECT_EQ(p.path, std::vector<std::uint64_t>{root});
    });
  }
}

// ---- the loop itself

/// The state is that before the iteration; the loop ends after the one with which it is enough.
TEST(reduce_until, is_the_plain_loop_on_one_worker) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    for (int repeat = 0; repeat < 50; ++repeat) {  // framed and beyond the cutoff
      for (int stop = 0; stop < 12; ++stop) {
        std::vector<int> seen;
        const int result = reduce_until(
            0, 10, 0, [&seen](int i, int so_far) { return seen.push_back(so_far), i + 1; }, max{},
            [=](int so_far) { return so_far > stop; });
        std::vector<int> expected;
        for (int i = 0; i < std::min(stop + 1, 10); ++i) expected.push_back(i);
        EXPECT_EQ(seen, expected);
        EXPECT_EQ(result, std::min(stop + 1, 10));
      }
    }
    EXPECT_EQ(reduce_until(
                  5, 5, 3, [](int, int) { return 9; }, max{}, [](int) { return true; }),
              3);
  });
}

TEST_P(reduce_until_with, everything_if_it_is_never_enough) {
  ledger done(1000);
  EXPECT_EQ(rt.run([&done] {
    return reduce_until(
        0, 1000, 1'000'000,
        [&done](int i, int) {
          disturb(static_cast<std::uint64_t>(i), 5);
          done.enter(static_cast<std::size_t>(i));
          return std::abs(i - 700) + 5;
        },
        min{}, [](int) { return false; });
  }),
            5);
  EXPECT_EQ(done.wrong(times()), 0u);
}

/// Computes until it is cancelled, unless the test goes on without that for long.
void endless() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) poll();
  ADD_FAILURE() << "nobody has cancelled it";
}

/// Young brothers wait: of this loop nothing is given in its first iteration, of another outside of
/// it something is.
TEST(reduce_until, gives_nothing_away_before_its_first_iteration_has_ended) {
  runtime rt(options{.workers = 3});
  for (int k = 0; k < 5; ++k) {
    rt.run([] {
      std::atomic<int> inside{0}, outside{0};
      std::atomic<bool> end{false};
      const detail::worker* const owner = detail::here.self;
      each(0, 2, [&, owner](int outer) {
        if (outer == 1) {  // given to a thief, that the other one can divide no further
          ++outside;
          while (!end) std::this_thread::yield();
          return;
        }
        reduce_until(
            0, 8, 0,
            [&, owner](int i, int) {
              if (i == 0) {
                while (outside == 0) poll();
                const auto begin = std::chrono::steady_clock::now();
                while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20))
                  poll();
                EXPECT_EQ(inside, 0);
              } else if (detail::here.self == owner) {
                while (inside == 0) poll();
              } else {
                ++inside;
              }
              return i;
            },
            max{}, [](int) { return false; });
        end = true;
      });
      EXPECT_GT(inside, 0);
    });
  }
}

/// Polls for so long, or until `end`.
void run_for(std::chrono::milliseconds time, const std::atomic<bool>& end) {
  const auto begin = std::chrono::steady_clock::now();
  while (!end && std::chrono::steady_clock::now() - begin < time) poll();
}

/// Later iterations may never be wanted: of a loop in long ones the owner gives the next one away
/// and goes on behind it.
TEST(reduce_until, gives_the_next_iteration_away) {
  runtime rt(options{.workers = 2});
  for (int k = 0; k < 5; ++k) {
    rt.run([] {
      std::vector<int> of_owner, of_thief;
      std::atomic<bool> given{false}, end{false};
      const detail::worker* const owner = detail::here.self;
      reduce_until(
          0, 7, 0,
          [&, owner](int i, int) {
            if (detail::here.self != owner) {
              of_thief.push_back(i);
              given = true;
              run_for(std::chrono::seconds(5), end);
              return i;
            }
            of_owner.push_back(i);
            if (i == 0) run_for(std::chrono::milliseconds(5), end);
            if (i == 1 || i == 2)
              while (!given) poll();
            if (i == 6) end = true;
            return i;
          },
          max{}, [](int) { return false; });
      // The poll before an iteration may be the one that gives the next.
      ASSERT_EQ(of_thief.size(), 1u);
      EXPECT_TRUE(of_thief[0] == 1 || of_thief[0] == 2) << of_thief[0];
      EXPECT_EQ(of_owner.size(), 6u);
    });
  }
}

/// A loop in short iterations is not divided at each.
TEST(reduce_until, gives_as_many_iterations_away_as_are_worth_it) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    std::atomic<int> of_thief{0};
    const detail::worker* const owner = detail::here.self;
    reduce_until(
        0, 10000, 0,
        [&, owner](int i, int) {
          if (detail::here.self != owner) {
            ++of_thief;
          } else if (i == 4000) {
            while (of_thief < 1000) poll();
          }
          return i;
        },
        max{}, [](int) { return false; });
  });
  EXPECT_LE(rt.statistics().splits, 100u);
}

/// A thief finds enough while the owner is in an iteration that does not end; and the other way
/// round.
TEST(reduce_until, ends_everywhere_when_somebody_has_found_enough) {
  runtime rt(options{.workers = 2});
  for (bool owner_finds : {false, true}) {
    for (int k = 0; k < 5; ++k) {
      rt.run([owner_finds] {
        std::atomic<bool> given{false};
        const detail::worker* const owner = detail::here.self;
        EXPECT_EQ(reduce_until(
                      0, 10, 0,
                      [&, owner, owner_finds](int i, int) {
                        if (i == 0) return 1;
                        const bool here = detail::here.self == owner;
                        if (!here) given = true;
                        while (!given) poll();
                        if (here != owner_finds) endless();
                        return 100;
                      },
                      max{}, [](int so_far) { return so_far >= 100; }),
                  100);
        poll();
      });
    }
  }
}

/// What a thief has found is the state of the owner's next iteration, before its part has ended.
TEST(reduce_until, all_see_what_one_has_found) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    std::atomic<bool> found{false}, seen{false};
    const detail::worker* const owner = detail::here.self;
    reduce_until(
        0, 100, 0,
        [&, owner](int i, int so_far) {
          if (i == 0) return 1;
          if (detail::here.self != owner) {
            if (!found) return found = true, 50;
            while (!seen) poll();
            return 2;
          }
          if (so_far == 50) seen = true;
          if (i == 1)
            while (!found) poll();
          return 2;
        },
        max{}, [](int) { return false; });
    EXPECT_TRUE(seen);
  });
}

TEST_P(reduce_until_with, an_exception_passes) {
  EXPECT_THROW(rt.run([] {
    return reduce_until(
        0, 100, 0,
        [](int i, int) {
          disturb(static_cast<std::uint64_t>(i), 2);
          if (i == 50) throw std::runtime_error("x");
          return i;
        },
        max{}, [](int) { return false; });
  }),
               std::runtime_error);
}

TEST_P(reduce_until_with, a_scope_around_it_is_cancelled) {
  for (int k = 0; k < 10; ++k) {
    rt.run([] {
      cancel_scope s;
      EXPECT_EQ(s.run([&s] {
        return reduce_until(
            0, 100, 0,
            [&s](int i, int) {
              disturb(static_cast<std::uint64_t>(i), 2);
              if (i == 50) s.cancel();
              poll();
              return i;
            },
            max{}, [](int) { return false; });
      }),
                std::nullopt);
      poll();
    });
  }
}

}  // namespace
}  // namespace cleave::tests
