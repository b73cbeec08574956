// Steps: when they are done and undone, in what order, and how a split goes back through them.
#include "core/requests.hpp"

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace cleave::tests {
namespace {

/// Writes down what is done: "+a" and "-a".
struct journal {
  std::string text;
  auto mark(char c) {
    return step{[this, c] { text += '+', text += c; }, [this, c] { text += '-', text += c; }};
  }
};

TEST(step, is_done_now_and_undone_at_the_end_of_the_scope) {
  journal j;
  {
    auto a = j.mark('a');
    auto b = j.mark('b');
    j.text += '.';
  }
  EXPECT_EQ(j.text, "+a+b.-b-a");
}

TEST(step, is_undone_by_an_exception) {
  journal j;
  try {
    auto a = j.mark('a');
    throw 1;
  } catch (int) {}
  EXPECT_EQ(j.text, "+a-a");
}

TEST(step, whose_do_throws_was_not_done) {
  runtime rt(options{.workers = 1});
  int undone = 0;
  rt.run([&undone] {
    auto make = [&undone] {
      step made{[] { throw std::runtime_error("x"); }, [&undone] { ++undone; }};
    };
    EXPECT_THROW(make(), std::runtime_error);
    both([] { force_split(); }, [] {});  // the list of frames is in order
  });
  EXPECT_EQ(undone, 0);
}

struct nothing_task {
  int run() { return 0; }
};

/// On a thread that is no worker there is no frame; on a worker there is.
template <class F>
void on_both_sides_of_the_cutoff(F f) {
  f();
  runtime rt(options{.workers = 1, .cutoff = false});
  rt.run(f);
}

/// The loop's own step around a call, in a loop of one iteration.
template <class Do, class Body, class Undo>
void wind_once(Do make, Body body, Undo undo) {
  each(
      0, 1, [&](int, auto wind) { wind([&make] { make(); }, [&body] { body(); }, undo); },
      [](int, int) -> nothing_task { return {}; }, [](int) {});
}

TEST(wind, returns_what_the_body_returns) {
  on_both_sides_of_the_cutoff([] {
    journal j;
    each(
        0, 1,
        [&j](int, auto wind) {
          const auto around = [&](auto body) -> decltype(auto) {
            return wind([&j] { j.text += '+'; }, body, [&j] { j.text += '-'; });
          };
          around([&j] { j.text += '.'; });
          EXPECT_EQ(*around([] { return std::make_unique<int>(5); }), 5);
          EXPECT_EQ(&around([&j]() -> journal& { return j; }), &j);
        },
        [](int, int) -> nothing_task { return {}; }, [](int) {});
    EXPECT_EQ(j.text, "+.-+-+-");
  });
}

TEST(wind, takes_closures_that_cannot_be_copied) {
  on_both_sides_of_the_cutoff([] {
    int sum = 0;
    each(
        0, 1,
        [&sum](int, auto wind) {
          const auto one = [] { return std::make_unique<int>(1); };
          EXPECT_EQ(wind([&sum, n = one()] { sum += *n; }, [n = one()] { return *n; },
                         [&sum, n = one()] { sum += *n; }),
                    1);
        },
        [](int, int) -> nothing_task { return {}; }, [](int) {});
    EXPECT_EQ(sum, 2);
  });
}

TEST(wind, undoes_once_when_the_body_throws) {
  on_both_sides_of_the_cutoff([] {
    journal j;
    try {
      wind_once([&j] { j.text += '+'; }, [] { throw 1; }, [&j] { j.text += '-'; });
    } catch (int) { j.text += 'c'; }
    EXPECT_EQ(j.text, "+-c");
  });
}

template <std::size_t N>
void expect_captures_when_thrown() {
  on_both_sides_of_the_cutoff([] {
    std::array<unsigned char, N> given{}, found{};
    std::iota(given.begin(), given.end(), static_cast<unsigned char>(1));
    try {
      wind_once([] {}, [] { throw 1; }, [given, &found] { found = given; });
    } catch (int) {}
    EXPECT_EQ(found, given);
  });
}

/// Up to 48 bytes go in registers, with the pointer to `found`.
TEST(wind, tells_what_undoes_all_it_captured_when_the_body_throws) {
  expect_captures_when_thrown<1>();
  expect_captures_when_thrown<4>();
  expect_captures_when_thrown<7>();
  expect_captures_when_thrown<8>();
  expect_captures_when_thrown<30>();
  expect_captures_when_thrown<40>();
  expect_captures_when_thrown<41>();
  struct alignas(16) aligned {
    long value;
  };
  aligned wide{0};
  EXPECT_THROW(wind_once([] {}, [] { throw 1; }, [&wide, a = aligned{3}] { wide = a; }), int);
  EXPECT_EQ(wide.value, 3);
  static int undone = 0;
  EXPECT_THROW(wind_once([] {}, [] { throw 1; }, [] { ++undone; }), int);
  EXPECT_EQ(undone, 1);
  std::string found;
  const std::string given = "longer than what a string keeps in itself";
  EXPECT_THROW(wind_once([] {}, [] { throw 1; }, [given, &found] { found += given; }), int);
  EXPECT_EQ(found, given);
}

/// As a loop's own: what its body makes of it, in every form that has one.
TEST(wind, of_a_loop) {
  on_both_sides_of_the_cutoff([] {
    journal j;
    const auto in_steps = [&j](int i, auto wind) {
      return wind([&j, i] { j.text += std::to_string(i); }, [i] { return i * i; },
                  [&j] { j.text += '-'; });
    };
    const auto put = [](int, int) -> nothing_task { return {}; };
    int squares = 0;
    const auto add = [&](int i, auto wind) { squares += in_steps(i, wind); };
    const auto add_to = [&](int i, int& total, auto wind) { total += in_steps(i, wind); };
    each(1, 4, add, put, [](int) {});
    EXPECT_EQ(squares, 14);
    EXPECT_EQ(sum(1, 4, add_to, put), 14);
    EXPECT_EQ(reduce(1, 4, 0, in_steps, std::plus<>(), put), 14);
    EXPECT_EQ(j.text, "1-2-3-1-2-3-1-2-3-");
  });
}

TEST(wind, of_a_loop_undoes_once_when_its_body_throws) {
  on_both_sides_of_the_cutoff([] {
    journal j;
    const auto body = [&j](int i, int& total, auto wind) {
      if (i == 1) return;
      total += wind([&j, i] { j.text += std::to_string(i); }, [i] { return i == 3 ? throw 1 : i; },
                    [&j] { j.text += '-'; });
    };
    try {
      sum(0, 4, body, [](int, int) -> nothing_task { return {}; });
    } catch (int) { j.text += 'c'; }
    EXPECT_EQ(j.text, "0-2-3-c");
  });
}

/// Goes back to the moment before `a`: the innermost is undone first, and redone last.
TEST(step, a_split_goes_back_and_forth) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    journal j;
    auto outer = j.mark('o');
    both(
        [&j] {
          auto a = j.mark('a');
          auto b = j.mark('b');
          j.text += '[';
          force_split();
          j.text += ']';
          return 0;
        },
        [] { return 0; },
        [&j] {
          j.text += "put";
          return nothing_task{};
        });
    EXPECT_EQ(j.text, "+o+a+b[-b-aput+a+b]-b-a");
  });
  EXPECT_EQ(rt.statistics().undone, 2u);
}

TEST(step, goes_back_to_the_oldest_frame_first) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    journal j;
    const auto put = [&j](int from, int to) {
      j.text += std::to_string(from) + ":" + std::to_string(to);
      return nothing_task{};
    };
    sum(
        0, 4,
        [&](int) {
          auto a = j.mark('a');
          return sum(
              0, 3,
              [&](int) {
                auto b = j.mark('b');
                for (int k = 0; k < 5; ++k) {
                  j.text += ' ';
                  force_split();
                }
                return 0;
              },
              put);
        },
        put);
    // The outer loop's halves first, then the inner loop's; then there is nothing left.
    EXPECT_EQ(j.text, "+a+b -b-a2:4+a+b -b-a1:2+a+b -b2:3+b -b1:2+b -b-a");
  });
}

TEST(step, does_not_undo_what_a_waiting_worker_runs_for_others_more_than_once) {
  // A part that the owner runs at the join has a scope of its own; its steps are undone for a split
  // of an older frame too, and all are back in place afterwards.
  runtime rt(options{.workers = 1});
  rt.run([] {
    struct own {
      int from, to;
      int run() {
        int w = 0;
        return sum<int>(
            from, to,
            [&w](int i) {
              step up{[&w] { ++w; }, [&w] { --w; }};
              force_split();
              EXPECT_EQ(w, 1);
              return i;
            },
            [&w](int f, int t) {
              EXPECT_EQ(w, 0);
              return own{f, t};
            });
      }
    };
    int outer = 0;
    EXPECT_EQ(sum(
                  0, 40,
                  [&outer](int i) {
                    step up{[&outer] { ++outer; }, [&outer] { --outer; }};
                    return own{0, i}.run();
                  },
                  [&outer](int f, int t) {
                    EXPECT_EQ(outer, 0);
                    struct rest {
                      int f, t;
                      int run() {
                        return sum<int>(f, t, [](int i) { return own{0, i}.run(); });
                      }
                    };
                    return rest{f, t};
                  }),
              9880);
  });
}

}  // namespace
}  // namespace cleave::tests
