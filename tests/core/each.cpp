// `each`: the general loop, its puts and gets.
#include "core/idle_workers.hpp"
#include "core/requests.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace cleave::tests {
namespace {

class each_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(each_with);

TEST_P(each_with, a_body) {
  for (int n : {0, 1, 2, 1000}) {
    ledger done(static_cast<std::size_t>(n));
    rt.run([n, &done] {
      each(0, n, [&done](int i) {
        done.enter(static_cast<std::size_t>(i));
        disturb(static_cast<std::uint64_t>(i));
      });
    });
    EXPECT_EQ(done.wrong(times()), 0u) << n;
  }
}

struct marking {
  ledger* done;
  int from, to;
  void run() { over(*done, from, to); }
  static void over(ledger& done, int from, int to) {
    each(
        from, to,
        [&done](int i) {
          done.enter(static_cast<std::size_t>(i));
          disturb(static_cast<std::uint64_t>(i));
        },
        [&done](int f, int t) {
          return marking{&done, f, t};
        });
  }
};

TEST_P(each_with, a_put_of_a_task_that_returns_nothing) {
  ledger done(1000);
  rt.run([&done] { marking::over(done, 0, 1000); });
  EXPECT_EQ(done.wrong(times()), 0u);
}

TEST(each, polls_in_each_iteration_of_a_loop_with_a_put) {
  runtime rt(options{.check = true});  // which divides at each poll, and then runs it undivided
  int most = 0;
  rt.run([&most] {
    ledger done(8);
    int puts = 0;
    each(
        0, 8, [&done](int i) { done.enter(static_cast<std::size_t>(i)); },
        [&](int from, int to) {
          ++puts;
          struct rest {
            ledger* done;
            int from, to;
            void run() {
              for (int i = from; i < to; ++i) done->enter(static_cast<std::size_t>(i));
            }
          };
          return rest{&done, from, to};
        },
        [] {});
    EXPECT_EQ(done.wrong(1), 0u);
    most = std::max(most, puts);
  });
  EXPECT_EQ(most, 2);  // of eight, and of three that are left
}

TEST_P(each_with, a_get_for_each_task_that_returns_nothing) {
  rt.run([] {
    ledger done(100);
    int puts = 0, gets = 0;
    each(
        0, 100,
        [&done](int i) {
          done.enter(static_cast<std::size_t>(i));
          disturb(static_cast<std::uint64_t>(i), 2);
        },
        [&](int f, int t) {
          ++puts;
          return marking{&done, f, t};
        },
        [&gets] { ++gets; });
    EXPECT_EQ(gets, puts);
    EXPECT_EQ(done.wrong(), 0u);
  });
}

/// What a piece of the loop returns: the iterations it did, in order. It only moves.
struct piece {
  std::unique_ptr<std::vector<int>> items = std::make_unique<std::vector<int>>();
};

struct piece_task {
  int from, to;
  piece run() {
    piece all;
    over(all, from, to);
    return all;
  }
  static void over(piece& all, int from, int to) {
    each(
        from, to,
        [&all](int i) {
          disturb(static_cast<std::uint64_t>(i), 2);
          all.items->push_back(i);
        },
        [](int f, int t) {
          return piece_task{f, t};
        },
        [&all](piece p) { all.items->insert(all.items->end(), p.items->begin(), p.items->end()); });
  }
};

TEST_P(each_with, gets_in_program_order) {
  for (int n : {0, 1, 2, 3, 17, 1000}) {
    rt.run([n] {
      piece all;
      piece_task::over(all, 0, n);
      ASSERT_EQ(all.items->size(), static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) ASSERT_EQ((*all.items)[static_cast<std::size_t>(i)], i);
    });
  }
}

TEST_P(each_with, gets_on_the_worker_that_owns_the_loop) {
  rt.run([] {
    const auto* owner = detail::here.self;
    int gets = 0;
    each(
        0, 200, [](int i) { disturb(static_cast<std::uint64_t>(i), 2); },
        [](int f, int t) {
          return piece_task{f, t};
        },
        [&](piece) {
          EXPECT_EQ(detail::here.self, owner);
          ++gets;
        });
    EXPECT_GT(gets, 0);
  });
}

/// Halving: after k splits of a loop of n, part j has what the rule says.
struct extent {
  int from, to;
  std::pair<int, int> run() { return {from, to}; }
};

TEST(each_alone, gives_the_upper_half_rounded_up) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    for (int n = 2; n < 40; ++n) {
      std::vector<std::pair<int, int>> given;
      each(
          0, n,
          [&](int i) {
            if (i == 0) {
              for (int k = 0; k < 10; ++k) force_split();
            }
            EXPECT_EQ(i, 0);
          },
          [](int f, int t) {
            return extent{f, t};
          },
          [&](std::pair<int, int> p) { given.push_back(p); });
      int end = n;
      std::vector<std::pair<int, int>> expected;
      for (int left = n - 1; left > 0; left = end - 1) {
        const int from = end - (left + 1) / 2;
        expected.insert(expected.begin(), {from, end});
        end = from;
      }
      EXPECT_EQ(given, expected) << n;
    }
  });
}

TEST(each_alone, does_not_give_the_iteration_it_is_in) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    int did = 0;
    each(
        0, 2,
        [&did](int i) {
          did += i + 1;
          force_split();
          force_split();
        },
        [](int f, int t) {
          return extent{f, t};
        },
        [](std::pair<int, int> p) { EXPECT_EQ(p, std::pair(1, 2)); });
    EXPECT_EQ(did, 1);
  });
  EXPECT_EQ(rt.statistics().splits, 1u);
}

/// In the iteration `rung` somebody insists, and what follows can be divided: each is run once.
template <class Form>
void expect_each_once(Form form) {
  constexpr int n = 10;
  for (int rung = 0; rung < n; ++rung) {
    poll();  // takes what was rung before
    ledger done(n);
    form(n, [&done, rung](int i) {
      done.enter(static_cast<std::size_t>(i));
      if (i == rung) detail::interrupt(detail::here);
    });
    EXPECT_EQ(done.wrong(), 0u) << rung;
  }
}

/// On this thread, which is no worker, all is undivided until somebody insists.
TEST(each_alone, goes_on_after_the_iteration_in_which_somebody_insists) {
  const auto put = [](int, int) { return extent{}; };
  const auto add = [](int a, int b) { return a + b; };
  expect_each_once([](int n, auto body) { each(0, n, body); });
  expect_each_once([=](int n, auto body) { each(0, n, body, put, [](std::pair<int, int>) {}); });
  const auto one = [](auto body) { return [body](int i) { return body(i), 1; }; };
  expect_each_once([=](int n, auto body) { EXPECT_EQ(sum(0, n, one(body)), n); });
  expect_each_once([=](int n, auto body) { EXPECT_EQ(reduce(0, n, 0, one(body), add), n); });
  struct number {
    int run() { return 0; }
  };
  const auto put_number = [](int, int) { return number{}; };
  expect_each_once([=](int n, auto body) { EXPECT_EQ(sum(0, n, one(body), put_number), n); });
  expect_each_once(
      [=](int n, auto body) { EXPECT_EQ(reduce(0, n, 0, one(body), add, put_number), n); });
}

/// The other worker asks during one iteration, of which none has taken long before. How many more
/// are run before something is given to it?
template <class Form>
int iterations_before_an_answer(Form form) {
  runtime rt(options{.workers = 2});
  constexpr int asked_in = 20'000;
  std::atomic<bool> reached{false};
  int more = 0;
  rt.run([&] {
    const auto given = [] { return detail::here.self->read_counters().splits; };
    const auto* const owner = detail::here.self;
    std::uint64_t before = 0;
    const auto body = [&, owner](int i) {
      if (i < asked_in || detail::here.self != owner) return;
      if (i > asked_in) {
        more += given() == before;
        return;
      }
      before = given();
      reached = true;
      while ((detail::rung_signals() & detail::asked) == 0) std::this_thread::yield();
    };
    task_group other;  // keeps the other worker until then
    std::atomic<bool> begun{false};
    other.spawn([&] {
      begun = true;
      while (!reached) std::this_thread::yield();
    });
    while (!begun) std::this_thread::yield();
    form(2 * asked_in, body);
    other.wait();
  });
  return more;
}

TEST(each, answers_after_the_iteration_in_which_it_is_asked) {
  EXPECT_EQ(iterations_before_an_answer([](int n, auto body) { each(0, n, body); }), 0);
  EXPECT_EQ(iterations_before_an_answer(
                [](int n, auto body) { sum(0, n, [body](int i) { return body(i), 1; }); }),
            0);
  EXPECT_EQ(iterations_before_an_answer([](int n, auto body) {
              reduce(
                  0, n, 0, [body](int i) { return body(i), 1; },
                  [](int a, int b) { return a + b; });
            }),
            0);
  EXPECT_EQ(iterations_before_an_answer(
                [](int n, auto body) { each(0, 1, [n, body](int) { each(0, n, body); }); }),
            0);
}

/// A poll in the body may give the rest away, in any iteration.
TEST_P(each_with, a_body_that_is_short_and_polls_now_and_then) {
  for (int n : {10, 100, 1000, 30'000}) {
    ledger done(static_cast<std::size_t>(n));
    rt.run([n, &done] {
      each(0, n, [n, &done](int i) {
        if (i % (n / 10) == n / 20) disturb(static_cast<std::uint64_t>(i), 1);
        done.enter(static_cast<std::size_t>(i));
      });
    });
    EXPECT_EQ(done.wrong(times()), 0u) << n;
  }
}

/// Arithmetic alone, which runs in strips.
TEST_P(each_with, a_body_of_a_few_instructions) {
  for (int n : {1, 7, 8, 63, 64, 65, 72, 136, 137, 1000, 30'000}) {
    std::vector<int> squares(static_cast<std::size_t>(n));
    std::vector<unsigned char> bytes(squares.size());
    int* const out = squares.data();
    unsigned char* const low = bytes.data();
    rt.run([=] {
      each(0, n, [out](int i) { out[i] = i * i; });
      each(0, n, [low](int i) { low[i] = static_cast<unsigned char>(i); });
    });
    long wrong = 0;
    for (int i = 0; i < n; ++i) wrong += out[i] != i * i || low[i] != (i & 255);
    EXPECT_EQ(wrong, 0) << n;
    EXPECT_EQ(rt.run([=] { return sum(0, n, [out](int i) { return out[i]; }); }),
              rt.run([=] { return sum(0, n, [](int i) { return i * i; }); }));
  }
}

/// All are served at one poll, as none comes before all have begun.
TEST(each, gives_long_iterations_to_all_that_ask) {
  const int workers = std::thread::hardware_concurrency() > 1 ? 8 : 4;
  runtime rt(options{.workers = workers});
  std::atomic<int> begun{0};
  std::atomic<bool> too_late{false};
  std::uint64_t splits_before = 0;
  rt.run([&, workers] {
    have_all_compute();
    splits_before = rt.statistics().splits;
    await_idle_workers();
    each(0, workers, [&, workers](int) {
      ++begun;
      for (int k = 0; begun < workers && !too_late; ++k) {
        if (k == 5000) too_late = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  });
  EXPECT_FALSE(too_late);
  EXPECT_EQ(rt.statistics().splits - splits_before, static_cast<std::uint64_t>(workers - 1));
}

}  // namespace
}  // namespace cleave::tests
