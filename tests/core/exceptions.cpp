// Exceptions cross joins: the owner's own wins, else that of the earliest part in program order;
// what was given away has finished or was cancelled by then, and every step is undone.
#include "core/requests.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace cleave::tests {
namespace {

class exceptions_with : public every_runtime {
protected:
  /// What f throws, run by the runtime.
  template <class F>
  std::string thrown_by(F f) {
    try {
      rt.run(f);
    } catch (const std::runtime_error& e) { return e.what(); }
    return "nothing";
  }
};
CLEAVE_FOR_EVERY_RUNTIME(exceptions_with);

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

TEST_P(exceptions_with, from_run) {
  EXPECT_EQ(thrown_by([] { fail("here"); }), "here");
  EXPECT_EQ(rt.run([] { return 1; }), 1);
}

TEST_P(exceptions_with, the_first_branch_wins) {
  for (bool split : {false, true}) {
    EXPECT_EQ(thrown_by([split] {
                both(
                    [split] {
                      if (split) force_split();
                      fail("first");
                    },
                    [] { fail("second"); });
              }),
              "first");
  }
}

TEST_P(exceptions_with, the_second_branch) {
  for (bool split : {false, true}) {
    bool first_done = false;
    EXPECT_EQ(thrown_by([split, &first_done] {
                both(
                    [split, &first_done] {
                      if (split) force_split();
                      first_done = true;
                    },
                    [] { fail("second"); });
              }),
              "second");
    EXPECT_TRUE(first_done);
  }
}

TEST_P(exceptions_with, of_any_type) {
  EXPECT_THROW(rt.run([] { both([] { force_split(); }, [] { throw 7; }); }), int);
}

TEST_P(exceptions_with, the_earliest_iteration_wins) {
  for (int first = 0; first < 40; ++first) {
    EXPECT_EQ(thrown_by([first] {
                sum(0, 40, [first](int i) -> int {
                  disturb(static_cast<std::uint64_t>(i), 2);
                  if (i >= first) fail(std::to_string(i));
                  return 1;
                });
              }),
              std::to_string(first));
  }
}

TEST_P(exceptions_with, a_given_part_fails_and_the_rest_is_done) {
  ledger done(100);
  EXPECT_EQ(thrown_by([&done] {
              each(0, 100, [&done](int i) {
                if (i == 0) force_split();
                if (i == 99) fail("last");
                done.enter(static_cast<std::size_t>(i));
              });
            }),
            "last");
  std::size_t not_done = done.wrong();
  EXPECT_LE(not_done, 1u);
}

TEST_P(exceptions_with, merge_get_and_body_of_every_form) {
  EXPECT_EQ(thrown_by([] {
              reduce(
                  0, 10, 0,
                  [](int i) {
                    force_split();
                    return i;
                  },
                  [](int, int b) -> int {
                    if (b == 5) fail("merge");
                    return b;
                  });
            }),
            "merge");
  struct one {
    int run() { return 1; }
  };
  EXPECT_EQ(thrown_by([] {
              each(
                  0, 10, [](int) { force_split(); }, [](int, int) { return one{}; },
                  [](int) { fail("get"); });
            }),
            "get");
}

/// Two hundred levels of both, each with a part that is given away; the innermost throws.
void descend(int levels, std::atomic<int>& alive) {
  struct life {
    std::atomic<int>& n;
    explicit life(std::atomic<int>& c) : n(c) { ++n; }
    ~life() { --n; }
  } counted(alive);
  disturb(static_cast<std::uint64_t>(levels), 2);
  if (levels == 0) fail("bottom");
  both([levels, &alive] { descend(levels - 1, alive); },
       [levels, &alive] {
         life mine(alive);
         for (int i = 0; i < levels; ++i) poll();
       });
}

TEST_P(exceptions_with, from_far_down_leave_nothing_running) {
  for (int k = 0; k < 20; ++k) {
    std::atomic<int> alive{0};
    EXPECT_EQ(thrown_by([&alive] { descend(200, alive); }), "bottom");
    EXPECT_EQ(alive, 0);  // also what was given away has ended
  }
}

/// A workspace with a stack of marks; every leaf may throw.
struct marks {
  std::vector<int> stack;
  int depth;
  long run() { return down(stack, depth); }
  static long down(std::vector<int>& s, int depth) {
    if (depth == 0) {
      if (mix(static_cast<std::uint64_t>(s[0] + 10 * s[1] + 100 * s[2])) % 7 == 0) fail("leaf");
      return 1;
    }
    return sum(
        0, 6,
        [&s, depth](int i) {
          step mark{[&s, i] { s.push_back(i); }, [&s] { s.pop_back(); }};
          disturb(static_cast<std::uint64_t>(i + depth), 2);
          return down(s, depth - 1);
        },
        [&s, depth](int from, int to) {
          return rest{s, depth, from, to};
        });
  }
  struct rest {
    std::vector<int> stack;
    int depth, from, to;
    long run() {
      return sum(
          from, to,
          [this](int i) {
            step mark{[this, i] { stack.push_back(i); }, [this] { stack.pop_back(); }};
            return down(stack, depth - 1);
          },
          [this](int f, int t) {
            return rest{stack, depth, f, t};
          });
    }
  };
};

TEST_P(exceptions_with, steps_are_undone) {
  std::string expected;
  for (int k = 0; k < 30; ++k) {
    EXPECT_EQ(thrown_by([] {
                std::vector<int> s{41};
                try {
                  marks::down(s, 4);
                } catch (...) {
                  EXPECT_EQ(s, std::vector<int>{41});
                  throw;
                }
              }),
              "leaf");
  }
}

TEST_P(exceptions_with, caught_inside_they_leave_the_worker_in_order) {
  const long total = rt.run([] {
    return sum(0, 200, [](int i) -> long {
      try {
        both(
            [i] {
              disturb(static_cast<std::uint64_t>(i), 2);
              if (i % 3 == 0) fail("x");
            },
            [i] {
              disturb(static_cast<std::uint64_t>(i), 2);
              if (i % 3 == 1) fail("y");
            });
      } catch (const std::runtime_error& e) { return e.what()[0] == 'x' ? 1 : 1000; }
      return 1'000'000;
    });
  });
  EXPECT_EQ(total, 67 * 1 + 67 * 1000 + 66 * 1'000'000);
}

/// A put that throws throws at the poll; the steps have been redone by then and nothing was given.
TEST_P(exceptions_with, a_put_throws_at_the_poll) {
  struct none {
    int run() { return 0; }
  };
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(thrown_by([] {
                int w = 0;
                try {
                  both(
                      [&w] {
                        step one{[&w] { w += 1; }, [&w] { w -= 1; }};
                        step two{[&w] { w *= 10; }, [&w] { w /= 10; }};
                        try {
                          force_split();
                        } catch (...) {
                          EXPECT_EQ(w, 10);
                          throw;
                        }
                        return 0;
                      },
                      [] { return 0; },
                      [&w]() -> none {
                        EXPECT_EQ(w, 0);
                        fail("put");
                      });
                } catch (...) {
                  EXPECT_EQ(w, 0);
                  throw;
                }
              }),
              "put");
  }
}

TEST_P(exceptions_with, a_put_throws_and_all_is_done_here) {
  struct rest {
    int from, to;
    int run() { return to - from; }
  };
  for (int k = 0; k < 50; ++k) {
    const long total = rt.run([] {
      bool caught = false;  // only then a put may throw: this loop does not catch what it throws at
                            // its own polls
      return sum(
          0, 100,
          [&caught](int i) {
            caught = true;
            try {
              disturb(static_cast<std::uint64_t>(i), 2);
            } catch (const std::runtime_error&) {}
            caught = false;
            return 1;
          },
          [&caught](int from, int to) {
            if (caught) fail("put");
            return rest{from, to};
          });
    });
    EXPECT_EQ(total, 100);
  }
}

struct no_task {
  int run() { return 0; }
};

/// The asker is another worker: who asks gets nothing, and the program learns why.
TEST(exceptions, of_a_put_for_an_idle_worker_is_thrown_at_the_poll) {
  runtime rt(options{.workers = 2});
  const int puts = rt.run([] {
    int called = 0;
    try {
      both(
          [&called] {
            while (called < 100) poll();
          },
          [] { return 0; },
          [&called]() -> no_task {
            ++called;
            fail("put");
          });
    } catch (const std::runtime_error&) { return called; }
    return -called;
  });
  EXPECT_EQ(puts, 1);
}

/// The second branch is given away and would go on for long.
TEST(exceptions, of_the_first_branch_cancel_the_second_one_at_its_next_poll) {
  runtime rt(options{.workers = 2});
  std::atomic<int> rounds{0};
  constexpr int all = 10'000;
  EXPECT_THROW(rt.run([&rounds] {
    both(
        [&rounds] {
          while (rounds == 0) poll();
          fail("first");
        },
        [&rounds] {
          for (; rounds < all; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
            ++rounds;
            poll();
          }
        });
  }),
               std::runtime_error);
  EXPECT_LT(rounds, all);
}

/// Both parts would go on for long.
TEST(exceptions, of_a_body_cancel_all_parts_that_were_given) {
  struct long_part {
    std::atomic<int>*begun, *uncancelled;
    void run() {
      ++*begun;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      for (; std::chrono::steady_clock::now() < end; std::this_thread::yield()) poll();
      ++*uncancelled;
    }
  };
  runtime rt(options{.workers = 3});
  std::atomic<int> begun{0}, uncancelled{0};
  EXPECT_THROW(rt.run([&] {
    each(
        0, 3,
        [&](int) {
          while (begun < 2) poll();
          fail("body");
        },
        [&](int, int) {
          return long_part{&begun, &uncancelled};
        },
        [] {});
  }),
               std::runtime_error);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(uncancelled, 0);
}

}  // namespace
}  // namespace cleave::tests
